"""Parses User-Agent strings: the names of the browser and the system, and the type of device.

Browsers freeze these strings, so versions and models in them are unreliable and not parsed; a small table is enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_BROWSERS: Final = (
    ("Edge", r"Edg(?:e|A|iOS)?/"),
    ("Opera", r"OPR/|Opera"),
    ("Samsung Internet", r"SamsungBrowser/"),
    ("Firefox", r"Firefox/|FxiOS/"),
    ("Chrome", r"Chrome/|CriOS/|Chromium/"),
    ("Safari", r"Safari/"),
)
BROWSERS: Final = frozenset(name for name, _ in _BROWSERS)
"""The browsers that are recognized. Any other name in a `UserAgent` is the sender's own, unverified."""
_SYSTEMS: Final = (
    ("iOS", r"iPhone|iPad|iPod"),
    ("Android", r"Android"),
    ("Windows", r"Windows"),
    ("macOS", r"Mac OS X|Macintosh"),
    ("ChromeOS", r"CrOS"),
    ("Linux", r"Linux|X11"),
)
_DEVICES: Final = (("iPhone", r"iPhone"), ("iPad", r"iPad"), ("iPod", r"iPod"), ("Mac", r"Macintosh"))
_MACHINES: Final = re.compile(
    r"bot\b|crawl|spider|preview|scan|proofpoint|barracuda|mimecast|safelinks|urldefense|curl|wget|python|java/|go-http|okhttp",
    re.IGNORECASE,
)
_PROGRAM: Final = re.compile(r"[A-Za-z][A-Za-z0-9 ._-]{0,39}(?=/|$)")


@dataclass(frozen=True, slots=True)
class UserAgent:
    """The sender of a request; None for unknown parts."""

    browser: str | None = None
    """The name of a browser or another program: `Firefox`, `curl`."""
    system: str | None = None
    device: str | None = None
    """Known for Apple's devices only."""
    device_type: str | None = None
    """desktop, phone or tablet."""


@lru_cache(maxsize=1024)
def parse_user_agent(text: str) -> UserAgent:
    """Parse a User-Agent header field."""
    system = _first(_SYSTEMS, text)
    return UserAgent(_first(_BROWSERS, text) or _program(text), system, _first(_DEVICES, text), _kind(text, system))


def is_automated(text: str) -> bool:
    """Return whether a User-Agent is of a mail scanner, a preview or another program; many imitate browsers."""
    return not text or bool(_MACHINES.search(text))


def _program(text: str) -> str | None:
    """Return `python-httpx` for `python-httpx/0.28`; None for `Mozilla/5.0`, which every browser sends."""
    found = _PROGRAM.match(text)
    return found[0].strip() if found and found[0] != "Mozilla" else None


def _kind(text: str, system: str | None) -> str | None:
    if re.search(r"iPad|Tablet|Android(?!.*Mobile)", text):
        return "tablet"
    if re.search(r"Mobi|iPhone|iPod", text):
        return "phone"
    return "desktop" if system else None


def _first(table: tuple[tuple[str, str], ...], text: str) -> str | None:
    return next((name for name, pattern in table if re.search(pattern, text)), None)
