"""Passwords that were stolen elsewhere: asked by k-anonymity, so that nobody learns which one, or looked up in a file.

The service is that of Have I Been Pwned (range API, version 3): five hexadecimal digits of the SHA-1 go out, padding hides
how many come back. Where it does not answer, nobody waits and nobody is refused.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from pathlib import Path

import httpx

from app.kit.clock import monotonic

log = logging.getLogger("gatehouse.breaches")

TIMEOUT_SECONDS = 1.5
BACKOFF_SECONDS = 60.0
"""How long a service that did not answer is left alone, so that sign-ins do not wait one after the other."""
_CACHE_SECONDS, _CACHE_SIZE = 3600.0, 64
_MAX_BYTES = 1_000_000
_MIN_PREFIX_DIGITS = 10  # digits of a prefix in the file: shorter ones would name passwords that nobody stole


class BreachedPasswords:
    """What is known of stolen passwords.

    Args:
        url: the range API's address, to which the five digits are added; empty: nobody is asked.
        file: sorted upper-case SHA-1 digests or prefixes of at least ten digits, one a line, with or without `:count`.
    """

    def __init__(self, url: str = "", file: str = "") -> None:
        self._url = url.rstrip("/")
        self._file = Path(file) if file else None
        self._known: OrderedDict[str, tuple[float, frozenset[str]]] = OrderedDict()
        self._lock = threading.Lock()
        self._rests_until = 0.0
        self._client = httpx.Client(timeout=TIMEOUT_SECONDS, headers={"Add-Padding": "true", "User-Agent": "Gatehouse"})

    @property
    def is_configured(self) -> bool:
        return bool(self._url or self._file)

    def has(self, password: str) -> bool:
        """Return whether the password was stolen; False too where nobody can tell."""
        text = password.encode("utf-8", "surrogatepass")
        digest = hashlib.sha1(text, usedforsecurity=False).hexdigest().upper()
        if self._file is not None and self._is_in_file(self._file, digest):
            return True
        return bool(self._url) and digest[5:] in self._range(digest[:5])

    def _range(self, prefix: str) -> frozenset[str]:
        now = monotonic()
        with self._lock:
            kept = self._known.get(prefix)
            if kept is not None and kept[0] > now:
                return kept[1]
            if self._rests_until > now:
                return frozenset()
        found = self._asked(prefix)
        with self._lock:
            if found is None:
                self._rests_until = monotonic() + BACKOFF_SECONDS
                return frozenset()
            self._known[prefix] = (now + _CACHE_SECONDS, found)
            while len(self._known) > _CACHE_SIZE:
                self._known.popitem(last=False)
        return found

    def _asked(self, prefix: str) -> frozenset[str] | None:
        """Return the digests that the service knows; None where it does not answer."""
        try:
            answer = self._client.get(f"{self._url}/{prefix}")
            answer.raise_for_status()
        except httpx.HTTPError as problem:
            log.warning("the list of stolen passwords does not answer: %s", type(problem).__name__)
            return None
        lines = (line.partition(":") for line in answer.text[:_MAX_BYTES].splitlines())
        return frozenset(suffix.strip().upper() for suffix, _, count in lines if count.strip() not in ("", "0"))

    def _is_in_file(self, file: Path, digest: str) -> bool:
        """Search the sorted file by halves: it may be larger than memory."""
        try:
            with file.open("rb") as lines:
                low, high = 0, lines.seek(0, 2)
                while low < high:
                    middle = (low + high) // 2
                    lines.seek(max(0, middle - 1))
                    if middle:
                        lines.readline()  # the rest of the line before, so that one that begins right here counts
                    begins = lines.tell()
                    line = lines.readline().decode("ascii", "replace").partition(":")[0].strip().upper()
                    if not line or begins >= high:
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
