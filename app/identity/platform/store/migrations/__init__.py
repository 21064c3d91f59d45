"""Alembic revisions: one purpose each, safe while the previous code still runs (expand, move, contract)."""
