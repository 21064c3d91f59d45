"""Consent forms of a tenant, and the answers of accounts."""
