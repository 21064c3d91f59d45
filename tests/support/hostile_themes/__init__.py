"""Themes that attack the pages, the mails and the server."""
