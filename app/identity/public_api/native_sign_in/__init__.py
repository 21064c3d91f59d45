"""Sign-in of apps with what the SDK of another provider returned."""
