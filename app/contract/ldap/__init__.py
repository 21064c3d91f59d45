"""Directories by LDAP whose passwords sign people in."""
