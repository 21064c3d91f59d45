"""Visitors of the hub's pages without a browser."""
