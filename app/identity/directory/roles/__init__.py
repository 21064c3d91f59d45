"""Roles of accounts, their permissions and their contexts."""
