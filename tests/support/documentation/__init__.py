"""Runs the pages of docs from their own text."""
