"""Password hashing: argon2id, a bounded number at once, tenants in turn."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from app.contract.configuration import Argon2
from app.identity.platform.hashing import HashingBusy
from app.kit.admission import may_wait
from app.kit.clock import monotonic
from app.kit.fair_queue import FairQueue

log = logging.getLogger("gatehouse.hashing")

MAX_WAIT_SECONDS = 5.0
"""How long a caller waits for a place before it is refused."""


_AVERAGE_WEIGHT = 0.1


class HashLimiter:
    """Lets `places` hashes run at once. Tenants that wait are served in turn, each in the order of arrival."""

    def __init__(self, places: int, patience_seconds: float = MAX_WAIT_SECONDS) -> None:
        self._free = places
        self._patience_seconds = patience_seconds
        self.recent_seconds = 0.0
        """How long a place is held of late."""
        self._lock = threading.Lock()
        self._waiting: FairQueue[threading.Event] = FairQueue()

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        with self._lock:
            return len(self._waiting)

    @contextmanager
    def place(self, tenant_id: str) -> Iterator[None]:
        """Hold one of the places.

        Raises HashingBusy after the limiter's patience; at once in a request that was said to need no hash (`contract/hashing.py`),
        whose thread others wait for.
        """
        self._take(tenant_id)
        begun = monotonic()
        try:
            yield
        finally:
            self._give_back(monotonic() - begun)

    def _take(self, tenant_id: str) -> None:
        with self._lock:
            if self._free > 0 and not self._waiting:
                self._free -= 1
                return
            if not may_wait.get():
                log.error("hashing.undeclared", extra={"tenant": tenant_id})
                raise HashingBusy
            turn = threading.Event()
            self._waiting.push(tenant_id, "", turn)
        if turn.wait(self._patience_seconds):
            return
        with self._lock:
            if not turn.is_set():  # else the place came at the last moment
                self._waiting.discard(tenant_id, "", turn)
                raise HashingBusy

    def _give_back(self, seconds: float) -> None:
        with self._lock:
            self.recent_seconds += _AVERAGE_WEIGHT * (seconds - self.recent_seconds)
            turn = self._waiting.pop()
            if turn is None:
                self._free += 1
            else:
                turn.set()


class Hashing:
    """Hashes and verifies passwords; `tenant_id` says whose turn it is where hashes wait. Raises HashingBusy."""

    def __init__(self, at_once: int) -> None:
        self._limiter = HashLimiter(max(1, at_once))

    def recent_seconds(self) -> float:
        """Return how long a hash takes of late, in seconds."""
        return self._limiter.recent_seconds

    def hash(self, password: str, parameters: Argon2, tenant_id: str = "") -> str:
        """Return the PHC text of the password's hash."""
        with self._limiter.place(tenant_id):
            return _hasher(parameters).hash(_bytes(password))

    def is_match(self, stored: str | None, password: str, parameters: Argon2, tenant_id: str = "") -> bool:
        """Return whether the password made the stored hash. Without a stored one it costs the same and is false."""
        hasher = _hasher(parameters)
        with self._limiter.place(tenant_id):
            try:
                hasher.verify(stored or _dummy_hash(parameters), _bytes(password))
                return stored is not None
            except (VerificationError, InvalidHashError):
                return False

    def is_stale(self, stored: str, parameters: Argon2) -> bool:
        """Return whether the hash was made with other parameters than the tenant's present ones."""
        return _hasher(parameters).check_needs_rehash(stored)


def _bytes(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=256)
def _hasher(parameters: Argon2) -> PasswordHasher:
    return PasswordHasher(parameters.iterations, parameters.memory_kib, parameters.parallelism, type=Type.ID)


@lru_cache(maxsize=256)
def _dummy_hash(parameters: Argon2) -> str:
    """A hash of nobody's password, so that an unknown account costs what a known one does."""
    return _hasher(parameters).hash(b"nobody has this password")
