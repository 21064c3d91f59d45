"""Workflows as sign-ins follow them: which one is in force, its steps, its calls, and how far a sign-in has come."""
