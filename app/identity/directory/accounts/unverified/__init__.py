"""Accounts and identifiers that are not verified yet."""
