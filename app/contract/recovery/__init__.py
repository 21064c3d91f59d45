"""Forgotten, reset and changed passwords."""
