"""Memberships: the roles of accounts in organizations, and the rights of managers."""
