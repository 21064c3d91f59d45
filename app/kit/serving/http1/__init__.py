"""HTTP/1.1 (RFC 9112): reads requests, writes responses."""
