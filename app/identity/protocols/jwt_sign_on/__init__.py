"""JWT sign-on: signed JWTs of accounts for a tenant's JWT clients (interface federation.md sections 7 and 9)."""
