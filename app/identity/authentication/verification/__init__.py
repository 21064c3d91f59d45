"""Verification of email addresses and phone numbers: sending, and applying a returned link or code."""
