"""Chromium, its windows, and the rules for pages that only a browser can check."""
