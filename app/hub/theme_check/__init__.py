"""Checks a theme without a server: renders every sample of every page in this process."""
