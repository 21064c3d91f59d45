"""Proofs: links and codes that show that somebody holds an address."""
