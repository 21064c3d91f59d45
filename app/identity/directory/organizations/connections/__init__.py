"""Connections of organizations to identity providers, and the roles of groups there."""
