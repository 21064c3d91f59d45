"""What a webhook may add to the requests of its deliveries: headers, query parameters and credentials.

Whatever is added reaches an HTTP client, so that no value can end a line, and no header replaces one that Gatehouse sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

MAX_ADDED: Final = 20
MAX_NAME: Final = 100
MAX_CHARACTERS: Final = 4_000
"""Of all names and values of one map: servers refuse header sections and URLs beyond 8 KB."""
RESERVED_HEADERS: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "date",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "signature",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    }
)
"""Headers that Gatehouse or its HTTP client sets, and those of a single hop (RFC 9110 section 7.6.1)."""
RESERVED_PREFIXES: Final = ("webhook-", "ce-")
"""Of the headers of Standard Webhooks and CloudEvents."""
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"([\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?)?")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_TOKEN: Final = re.compile(r"[\x21-\x7e]+")


def header_problems(headers: Mapping[str, str], *, is_authenticated: bool) -> Iterator[str]:
    """Yield what is expected of headers instead. With `is_authenticated` the webhook's credentials are the header Authorization."""
    yield from _size_problems(headers)
    folded = [name.lower() for name in headers]
    if len(set(folded)) < len(folded):
        yield "each header once; letter case makes no difference"
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            yield "names of headers (RFC 9110 section 5.1)"
        elif name.lower() in RESERVED_HEADERS or name.lower().startswith(RESERVED_PREFIXES):
            yield f"headers without {name}, which Gatehouse sets"
        elif is_authenticated and name.lower() == "authorization":
            yield f"headers without {name}, which the webhook's authentication sets"
        elif not _HEADER_VALUE.fullmatch(value):
            yield f"a value of {name} in visible ASCII characters, without blanks at its ends"


def query_problems(parameters: Mapping[str, str]) -> Iterator[str]:
    """Yield what is expected of query parameters instead."""
    yield from _size_problems(parameters)
    if any(not name or _CONTROL.search(f"{name}{value}") for name, value in parameters.items()):
        yield "names and values without control characters"


def credential_problem(kind: str, value: str) -> str | None:
    """Return what is expected of a `username`, `password` or `token` instead, or None (RFC 7617 section 2, RFC 6750 section 2.1)."""
    if kind == "token":
        return None if _TOKEN.fullmatch(value) else "visible ASCII characters without blanks"
    if not value or _CONTROL.search(value):
        return "at least one character, and no control characters"
    return "no colon" if kind == "username" and ":" in value else None


def _size_problems(added: Mapping[str, Any]) -> Iterator[str]:
    if len(added) > MAX_ADDED:
        yield f"at most {MAX_ADDED}"
    if any(len(name) > MAX_NAME for name in added):
        yield f"names of at most {MAX_NAME} characters"
    if sum(len(name) + len(value) for name, value in added.items()) > MAX_CHARACTERS:
        yield f"at most {MAX_CHARACTERS:,} characters in all names and values"
