"""Versions of themes: their store, drafts and publications, and those that wait for their time."""
