"""Invitations to organizations, by email and by link."""
