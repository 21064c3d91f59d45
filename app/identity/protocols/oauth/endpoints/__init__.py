"""Handlers of the endpoints that clients call, and the documents that describe them."""
