"""Callers of every operation and resource, and what the interface says of them."""
