"""Declared collections and singletons: their models, checks, operations and stored values."""
