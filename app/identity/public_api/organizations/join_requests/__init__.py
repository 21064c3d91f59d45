"""Requests to join organizations: people ask, managers and the tenant's servers decide."""
