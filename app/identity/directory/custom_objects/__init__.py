"""Custom objects: records that a tenant's applications store with an account."""
