"""Checks of the parameters of OpenID Connect, and of ours that choose how to sign in, one per file."""
