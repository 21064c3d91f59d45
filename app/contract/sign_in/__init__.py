"""Sign-in with a password, and its risk checks."""
