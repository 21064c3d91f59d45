"""Caches with a bound."""
