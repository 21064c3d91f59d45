"""Credentials of accounts: passwords, passkeys, PINs, second factors, one-time tokens, captchas."""
