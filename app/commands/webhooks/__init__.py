"""gatehouse webhooks: a tenant's webhooks from a developer's machine, by a machine token."""
