"""Accounts: their operations, what their owners change, and the import of accounts."""
