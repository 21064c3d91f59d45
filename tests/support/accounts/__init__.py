"""Accounts of a tenant in the states that tests need, with their mails, consents and identities."""
