"""Breached passwords: asked of Have I Been Pwned by k-anonymity, or looked up in a file.

The range API (version 3) gets five hexadecimal digits of the SHA-1; padding hides the size of its response. If it does not
answer, the password is accepted.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from app.identity.platform.password_hashing import normalize
from app.kit.clock import monotonic

if TYPE_CHECKING:
    import httpx

log = logging.getLogger("gatehouse.breaches")

TIMEOUT_SECONDS = 1.5
BACKOFF_SECONDS = 60.0
"""How long the API is not called after a failure, so that not every sign-in waits for it."""
_CACHE_SECONDS, _CACHE_SIZE = 3600.0, 64
_MAX_BYTES = 1_000_000
_MIN_PREFIX_DIGITS = 10  # of a digest in the file: shorter prefixes would match other passwords


class BreachedPasswordIndex:
    """Looks passwords up in the range API, in a file, or in both.

    Args:
        url: base URL of the range API; empty: no API.
        file: sorted upper-case SHA-1 digests or prefixes of at least ten digits, one a line, with or without `:count`.
    """

    def __init__(self, url: str = "", file: str = "") -> None:
        self._url = url.rstrip("/")
        self._file = Path(file) if file else None
        self._cache: OrderedDict[str, tuple[float, frozenset[str]]] = OrderedDict()
        self._lock = threading.Lock()
        self._paused_until = 0.0

    @cached_property
    def _client(self) -> httpx.Client:
        """The client of the range API; made at its first use, which imports httpx."""
        import httpx

        from app.identity.platform.outbound.bounded_transport import tls_context

        headers = {"Add-Padding": "true", "User-Agent": "Gatehouse"}
        return httpx.Client(timeout=TIMEOUT_SECONDS, headers=headers, verify=tls_context())

    @property
    def is_configured(self) -> bool:
        return bool(self._url or self._file)

    def has(self, password: str) -> bool:
        """Return whether the password is known as breached; False also if the API does not answer."""
        text = normalize(password).encode("utf-8", "surrogatepass")
        digest = hashlib.sha1(text, usedforsecurity=False).hexdigest().upper()
        if self._file is not None and self._is_in_file(self._file, digest):
            return True
        return bool(self._url) and digest[5:] in self._range(digest[:5])

    def _range(self, prefix: str) -> frozenset[str]:
        now = monotonic()
        with self._lock:
            cached = self._cache.get(prefix)
            if cached is not None and cached[0] > now:
                return cached[1]
            if self._paused_until > now:
                return frozenset()
        suffixes = self._fetch(prefix)
        with self._lock:
            if suffixes is None:
                self._paused_until = monotonic() + BACKOFF_SECONDS
                return frozenset()
            self._cache[prefix] = (now + _CACHE_SECONDS, suffixes)
            while len(self._cache) > _CACHE_SIZE:
                self._cache.popitem(last=False)
        return suffixes

    def _fetch(self, prefix: str) -> frozenset[str] | None:
        """Return the digests of the API, or None if it does not answer."""
        import httpx

        try:
            response = self._client.get(f"{self._url}/{prefix}")
            response.raise_for_status()
        except httpx.HTTPError as problem:
            log.warning("the list of stolen passwords does not answer: %s", type(problem).__name__)
            return None
        lines = (line.partition(":") for line in response.text[:_MAX_BYTES].splitlines())
        return frozenset(suffix.strip().upper() for suffix, _, count in lines if count.strip() not in ("", "0"))

    def _is_in_file(self, file: Path, digest: str) -> bool:
        """Search the sorted file by bisection, because it may be larger than memory."""
        try:
            with file.open("rb") as lines:
                low, high = 0, lines.seek(0, 2)
                while low < high:
                    middle = (low + high) // 2
                    lines.seek(max(0, middle - 1))
                    if middle:
                        lines.readline()  # skip to the next line start; a line that starts at `middle` counts
                    line_start = lines.tell()
                    line = lines.readline().decode("ascii", "replace").partition(":")[0].strip().upper()
                    if not line or line_start >= high:
                        high = middle
                    elif digest.startswith(line) and len(line) >= _MIN_PREFIX_DIGITS:
                        return True
                    elif line < digest:
                        low = lines.tell()
                    else:
                        high = middle
                lines.seek(low)
                line = lines.readline().decode("ascii", "replace").partition(":")[0].strip().upper()
                return len(line) >= _MIN_PREFIX_DIGITS and digest.startswith(line)
        except OSError as problem:
            log.warning("the file of stolen passwords cannot be read: %s", type(problem).__name__)
            return False
