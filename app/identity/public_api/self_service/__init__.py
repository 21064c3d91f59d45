"""Self-service: an account's owner changes profile, identifiers, factors and consents, and deletes the account."""
