"""JWT sign-on: signed JWTs of accounts for a tenant's JWT clients."""
