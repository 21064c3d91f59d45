"""What a person proves an identity with: passwords, passkeys, PINs, second factors, one-time tokens, captchas."""
