"""One-time tokens: links and codes that prove access to an email address or a phone number."""
