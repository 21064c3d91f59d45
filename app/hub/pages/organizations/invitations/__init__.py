"""Invitations to an organization: sent, listed, received, answered."""
