"""Captchas: challenges, answers and settings."""
