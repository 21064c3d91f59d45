"""Logs, metrics, traces and health checks."""
