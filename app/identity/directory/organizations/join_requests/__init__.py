"""Requests to join an organization by a verified domain."""
