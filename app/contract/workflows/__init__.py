"""Workflows: the steps of a tenant’s sign-ins, drawn as a graph."""
