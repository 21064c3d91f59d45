"""The interface's own operations: self-service by an account, management by the tenant's servers."""
