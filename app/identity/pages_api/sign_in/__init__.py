"""Sign-in on the pages: password, second factor, passkey, passwordless, another device, another provider."""
