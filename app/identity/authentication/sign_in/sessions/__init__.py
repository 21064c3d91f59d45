"""Browser sessions: begun by a sign-in, read by each request, ended by sign-out."""
