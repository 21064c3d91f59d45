"""Texts: languages, typography, input filters, JSON from outside."""
