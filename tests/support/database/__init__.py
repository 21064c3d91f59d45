"""Rows and rules for tests of the schema, its migrations and its statements."""
