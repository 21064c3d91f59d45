"""One-time tokens: links and codes that verify access to an email address or a phone number."""
