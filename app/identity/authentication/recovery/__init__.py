"""Forgotten passwords: what is sent to whoever holds the address, and what a new password changes."""
