"""Applications that register themselves (RFC 7591, RFC 7592)."""
