"""Passkeys (WebAuthn level 3): the two ceremonies, and the stored credentials."""
