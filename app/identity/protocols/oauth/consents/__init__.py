"""Consents of accounts to applications, and the applications that an account uses."""
