"""Memberships: the roles of accounts in organizations, and who may manage them."""
