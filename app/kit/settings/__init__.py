"""Parsers of settings' values: numbers, files, addresses, databases."""
