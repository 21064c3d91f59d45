"""Domains of organizations: claims, verification by DNS, and membership by a verified address."""
