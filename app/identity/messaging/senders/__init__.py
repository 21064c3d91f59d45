"""Delivery of messages: one file per kind of gateway."""
