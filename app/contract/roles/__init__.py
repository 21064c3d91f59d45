"""Roles of accounts, with permissions and contexts."""
