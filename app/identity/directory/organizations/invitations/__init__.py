"""Invitations to organizations, by email and shared."""
