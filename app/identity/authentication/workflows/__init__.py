"""Workflows in force: the graph that a sign-in follows."""
