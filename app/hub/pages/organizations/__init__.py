"""Organizations: creation, choice, members, settings, requests to join."""
