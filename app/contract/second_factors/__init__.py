"""Second factors, one file for each authenticator."""
