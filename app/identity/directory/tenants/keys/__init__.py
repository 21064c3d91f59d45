"""Signing keys and secrets of tenants and their clients."""
