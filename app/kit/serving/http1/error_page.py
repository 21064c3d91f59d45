"""The page of a response that the server gives itself, for browsers: in English, with nothing to load."""

from __future__ import annotations

from http import HTTPStatus
from string import Template
from typing import Final

_TITLES: Final = {500: "Something went wrong", 503: "We’ll be right back"}
_TEMPORARY: Final = frozenset({408, 500, 503})
"""Statuses after which the same request may succeed."""
_PAGE: Final = Template(
    """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>$title</title>
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
body { display: grid; place-content: center; min-height: 100vh; margin: 0; padding: 24px; box-sizing: border-box }
body { background: light-dark(#f6f7fb, #0f1014); color: light-dark(#14161f, #ececf1); }
body { font: 400 1rem/1.5 -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, Inter, "Noto Sans", system-ui, sans-serif }
main { max-width: 384px }
h1 { margin: 0; font-size: 1.625rem; line-height: 1.2; letter-spacing: -.022em }
p { margin: 8px 0 28px; text-wrap: balance; color: light-dark(#5c6070, #a2a5b2) }
a { display: inline-block; padding: 11px 20px; border-radius: 10px; font-weight: 600; text-decoration: none }
a { background: light-dark(#14161f, #ececf1); color: light-dark(#fff, #14161f) }
a:focus-visible { outline: 2px solid; outline-offset: 2px }
</style>
</head>
<body>
<main>
<h1>$title</h1>
<p>$reason</p>
<a href="$address">$action</a>
</main>
</body>
</html>
"""
)


def error_page(status: int, reason: str) -> str:
    """Return the page of a status: what happened, a sentence, and a link that tries again or leads to the start.

    `reason` goes into the page as it is: it is text of the server, never of the request.
    """
    title = _TITLES.get(status) or HTTPStatus(status).phrase
    address, action = ("", "Try again") if status in _TEMPORARY else ("/", "Go to the start page")
    return _PAGE.substitute(title=title, reason=reason, address=address, action=action)
