"""Tokens: issued to clients, presented by them, introspected and revoked."""
