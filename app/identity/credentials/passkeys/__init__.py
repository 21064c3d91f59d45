"""Passkeys (WebAuthn level 3): the two ceremonies, and what is kept of a credential."""
