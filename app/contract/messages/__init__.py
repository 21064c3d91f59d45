"""Emails and text messages: kinds, sending limits and a tenant's own templates."""
