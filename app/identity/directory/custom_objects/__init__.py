"""Custom objects: records that a tenant's programs keep with an account."""
