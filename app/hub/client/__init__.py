"""The client of the identity service, and its connections."""
