"""Client authentication at the endpoints that clients call (RFC 6749 section 2.3): one file for each method."""
