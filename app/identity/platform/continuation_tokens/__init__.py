"""Tickets: opaque texts that stand for a moment of a journey, kept as digests."""
