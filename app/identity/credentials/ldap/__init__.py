"""Passwords that a directory checks instead of this service (LDAP providers)."""
