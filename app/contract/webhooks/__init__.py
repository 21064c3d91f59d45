"""Webhooks: a tenant’s systems that receive the events of its accounts."""
