"""Passkeys: the interface's rows of the first factor, and what a browser's credential looks like (interface mfa.md section 6)."""
