"""Workflows and hooks where an application gets tokens."""
