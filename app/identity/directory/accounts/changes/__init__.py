"""Changes of an account: what its owner or the servers of the tenant change, and its deletion."""
