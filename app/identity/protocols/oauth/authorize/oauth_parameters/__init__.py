"""Checks of the parameters of OAuth 2.0 and its extensions, one per file."""
