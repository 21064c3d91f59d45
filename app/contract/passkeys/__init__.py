"""Passkeys as first and second factor, and the models of WebAuthn (interface mfa.md section 6)."""
