"""HTTP/1.1 on one connection (RFC 9112): requests as they are read, responses as they are written."""
