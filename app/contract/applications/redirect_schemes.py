"""The schemes of redirect URIs: forbidden ones, and those that a self-registered application may use.

Forbidden are schemes that run a script, read a file, or act in a browser or an operating system. A self-registered application
uses a scheme in reverse domain order (RFC 8252 section 7.1) or from the tenant's list: a short name may belong to the operating system.
"""

import re
from collections.abc import Collection
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

_OTHERS: Final = frozenset(
    {
        "about", "android-app", "blob", "brave", "chrome", "chrome-search", "chrome-untrusted", "data", "devtools", "edge", "file",
        "filesystem", "firefox", "ftp", "googlechrome", "googlechromes", "hcp", "help", "intent", "its", "itms-services", "jar",
        "javascript", "livescript", "mailto", "mhtml", "microsoft-edge", "mk", "mocha", "opera", "resource", "search", "search-ms",
        "shell", "sms", "tel", "vbscript", "view-source", "vivaldi", "ws", "wss", "wyciwyg",
    }
)  # fmt: skip
_MICROSOFT: Final = "ms-"
_APPS_ON_WINDOWS: Final = frozenset({"ms-app", "ms-appx-web"})
"""Callback schemes of packaged apps; all other schemes with `ms-` open a part of Windows or Office."""
_REVERSE_DOMAIN: Final = re.compile(
    r"(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+", re.ASCII
)
_REVERSE_DOMAIN_CHARACTERS: Final = 100
"""Maximum length: the consent page shows the scheme, which must not hold a misleading sentence."""
_OF_SYSTEMS: Final = re.compile(
    r"(?:android|apple|chrome|google|microsoft|windows|com\.(?:android|apple|google|microsoft))(?:\..+)?"
)
"""In reverse domain order, and handled by the system or its maker's programs, such as `com.apple.tv` and `microsoft.windows.camera`."""


def is_of_no_application(scheme: str) -> bool:
    """Return whether the scheme (in lower case) is forbidden for every application."""
    return scheme in _OTHERS or (scheme.startswith(_MICROSOFT) and scheme not in _APPS_ON_WINDOWS)


def is_reverse_domain(scheme: str) -> bool:
    """Return whether the scheme is a domain name in reverse order, such as `com.example.app`."""
    return len(scheme) <= _REVERSE_DOMAIN_CHARACTERS and _REVERSE_DOMAIN.fullmatch(scheme) is not None


def is_registrable(uri: str, listed: Collection[str]) -> bool:
    """Return whether an application that registers itself may be reached by the scheme of this checked URI.

    Args:
        listed: the private-use schemes that the tenant allows besides.
    """
    scheme = urlsplit(uri).scheme
    if scheme in ("http", "https") or scheme in listed:
        return True
    return is_reverse_domain(scheme) and not _OF_SYSTEMS.fullmatch(scheme) and not is_of_no_application(scheme)


def _of_an_application(scheme: str) -> str:
    if is_of_no_application(scheme) or scheme in ("http", "https"):
        raise ValueError("an application's own scheme, such as cursor")
    return scheme


RedirectScheme = Annotated[str, Field(pattern=r"^[a-z][a-z0-9+.-]{0,59}$"), AfterValidator(_of_an_application)]
"""A scheme without its colon, in lower case."""
