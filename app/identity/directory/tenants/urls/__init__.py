"""Addresses of a tenant: custom hosts, permitted URLs, and the origins of its passkeys."""
