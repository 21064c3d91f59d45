"""Credentials: what an account enrolled to prove who it is, each with its authenticator's kind."""
