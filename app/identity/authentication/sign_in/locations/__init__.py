"""Locations of network addresses, read from the operator's own file; without one they are unknown."""
