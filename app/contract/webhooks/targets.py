"""The form of a webhook's target, and when two targets are the same."""

from __future__ import annotations

from typing import Final

from app.kit.web.urls import parse_url

MAX_URL: Final = 2_048
LISTENER_HOST: Final = "listener.invalid"
"""Of webhooks whose deliveries a program reads in the log, such as `gatehouse webhooks listen`: no host has a name below `.invalid`
(RFC 6761 section 6.4)."""


def is_target(url: str) -> bool:
    """Return whether deliveries can go to a URL: https, a host, no user name, no fragment. Its address is judged at each delivery."""
    parts = parse_url(url)
    return parts is not None and parts.scheme == "https" and "#" not in url and len(url) <= MAX_URL and url.isascii()


def is_listener(url: str) -> bool:
    """Return whether nothing is sent, because a program reads the deliveries in the log."""
    parts = parse_url(url)
    return parts is not None and parts.host == LISTENER_HOST


def comparable(text: str) -> str:
    """Return a target with its host as browsers send it, so that one target has one form; any other text as it is."""
    parts = parse_url(text)
    if parts is None:
        return text
    return f"{parts.origin}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")
