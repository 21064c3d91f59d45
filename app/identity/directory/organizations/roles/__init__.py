"""Permissions and roles of organizations."""
