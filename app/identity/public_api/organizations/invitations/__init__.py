"""Invitations to organizations: sent by the tenant's servers, accepted by people."""
