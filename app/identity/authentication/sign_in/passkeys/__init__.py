"""Passkeys in place of a password: registration, sign-in, recovery, and their management."""
