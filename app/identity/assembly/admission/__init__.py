"""Admission of requests: the tenant, the caller's credentials, and the checks before a handler."""
