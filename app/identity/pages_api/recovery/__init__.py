"""Recovery on the pages: passwords, PINs, lost passkeys, and the links of security alerts."""
