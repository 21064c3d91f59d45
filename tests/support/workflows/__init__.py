"""Workflows: graphs as editors draw them."""
