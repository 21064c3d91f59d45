"""Tenants, accounts, consents and custom objects."""
