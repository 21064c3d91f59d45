"""Bounds how many conversations with one directory run at once, so that one that hangs does not hold every thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.platform.ldap.ldap_refusals import LdapUnavailable


class ConversationSlots:
    """Lets `most` conversations of a key run at once in this process; a further one is refused at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._running: Counter[str] = Counter()  # only keys with a conversation

    @contextmanager
    def taken(self, key: str) -> Iterator[None]:
        """Hold a slot for a block. Raises LdapUnavailable."""
        with self._lock:
            if self._running[key] >= self._most:
                text = f"{self._most} conversations wait for the directory already"
                expected = f"at most {self._most} conversations at once"
                raise LdapUnavailable(text, check=ConnectionCheck.LDAP_CONNECTION, expected=expected, received=text)
            self._running[key] += 1
        try:
            yield
        finally:
            with self._lock:
                self._running[key] -= 1
                if not self._running[key]:
                    del self._running[key]
