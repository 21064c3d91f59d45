"""Proofs that the sender of a request holds a key or a certificate (RFC 7800, RFC 8705, RFC 9449)."""
