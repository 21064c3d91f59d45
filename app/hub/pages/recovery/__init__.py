"""Forgotten passwords and PINs, lost passkeys."""
