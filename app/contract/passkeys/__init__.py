"""Passkeys as first and second factor, and the models of WebAuthn."""
