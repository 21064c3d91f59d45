"""Interactions of the hosted pages: their stored state, their next step, and the completion after a first factor."""
