"""Second factors: the interface's rows of each authenticator, one file each (interface mfa.md)."""
