"""Verified email addresses and phone numbers, and the links and codes that verify them."""
