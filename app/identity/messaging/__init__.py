"""Emails and text messages: templates, rendering, sending limits and senders."""
