"""Rows of other people’s identities: SAML in both roles, and a directory."""
