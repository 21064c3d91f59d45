"""Imports accounts of other systems with their password hashes."""
