"""Bounds on work: rate limits, nonces, time budgets, fair queues; in memory or in Redis."""
