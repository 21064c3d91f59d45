"""Second factors, one file for each authenticator (interface mfa.md)."""
