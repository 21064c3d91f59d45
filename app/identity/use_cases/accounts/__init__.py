"""Changes of an account: profile, email addresses, and deletion."""
