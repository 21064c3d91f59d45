"""Outgoing connections: safe address resolution, DNS records, OAuth clients, AWS signatures."""
