"""Tenant configuration: settings by operation, and files that are applied and exported."""
