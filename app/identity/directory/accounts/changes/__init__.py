"""Changes of an account by its owner or the tenant's servers, and its deletion."""
