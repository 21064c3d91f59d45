"""The domains of an organization: list, add, verify, remove."""
