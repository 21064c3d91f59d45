"""The names that others rely on, read from the code and pinned in a file: `python -m tools.pins`."""
