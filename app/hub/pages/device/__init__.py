"""Sign-ins for another device: the device flow (RFC 8628) and the device handoff."""
