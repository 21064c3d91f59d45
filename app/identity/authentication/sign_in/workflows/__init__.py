"""Runs the workflow in force at each sign-in."""
