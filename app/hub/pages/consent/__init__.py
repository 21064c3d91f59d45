"""Consents: to applications, consent forms, privacy policies, and what the account has agreed to."""
