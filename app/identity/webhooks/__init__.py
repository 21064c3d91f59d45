"""Webhooks: what is sent for an event, to which target, and how a delivery is signed and tried."""
