"""Signing in and out: every first factor, the second factor, the choice of an account."""
