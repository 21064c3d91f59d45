"""Addresses of the hub that are no page: protocol endpoints, federation, legacy addresses."""
