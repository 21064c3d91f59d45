"""Addresses of the pages of email addresses."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

EMAILS: Final = "/emails"


EMAIL_CODE: Final = "/emails/confirm"


def email_code_url(email: str, **more: str) -> str:
    """Return the address of the page that takes the code for an email address."""
    return f"{EMAIL_CODE}?{urlencode({'email': email, **more}, errors='replace')}"
