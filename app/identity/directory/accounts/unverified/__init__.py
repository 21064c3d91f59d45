"""Accounts and identifiers that nobody has verified yet."""
