"""Tenants: settings, configuration file, look, domains and access restrictions."""
