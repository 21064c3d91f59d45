"""Sign-in with accounts of identity providers: connections, providers and linked identities."""
