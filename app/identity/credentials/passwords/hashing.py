"""Password hashing with argon2id. A bounded number of hashes run at once; tenants take turns.

Hashes of other systems (`imported_hashes.py`) are verified too, and are always stale.
"""

from __future__ import annotations

import logging
import re
import threading
from contextlib import AbstractContextManager
from functools import lru_cache

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION

from app.contract.configuration import Argon2
from app.identity.credentials.passwords import imported_hashes
from app.identity.platform.hashing import HashingBusy
from app.kit.admission import may_wait
from app.kit.clock import monotonic
from app.kit.fair_queue import FairQueue

log = logging.getLogger("gatehouse.hashing")

MAX_WAIT_SECONDS = 5.0
"""How long a caller waits before HashingBusy."""


_AVERAGE_WEIGHT = 0.1


class HashLimiter:
    """Lets `places` hashes run at once. Waiting tenants take turns, each in the order of arrival."""

    def __init__(self, places: int, max_wait_seconds: float = MAX_WAIT_SECONDS) -> None:
        self._free = places
        self._max_wait_seconds = max_wait_seconds
        self.recent_seconds = 0.0
        """Moving average of the duration of a hash."""
        self._lock = threading.Lock()
        self._waiting: FairQueue[threading.Event] = FairQueue()

    @property
    def waiting(self) -> int:
        """How many callers wait."""
        with self._lock:
            return len(self._waiting)

    def place(self, tenant_id: str) -> AbstractContextManager[None]:
        """Hold a place while a hash runs.

        Entering raises HashingBusy after the maximum wait; at once in an operation declared without hashing (`contract/hashing.py`),
        because other requests wait for its thread.
        """
        return _Place(self, tenant_id)

    def take(self, tenant_id: str) -> None:
        """Take a place, which the caller must give back. Raises HashingBusy, as `place`."""
        with self._lock:
            if self._free > 0 and not self._waiting:
                self._free -= 1
                return
            if not may_wait.get():
                log.error("hashing.undeclared", extra={"tenant": tenant_id})
                raise HashingBusy
            turn = threading.Event()
            self._waiting.push(tenant_id, "", turn)
        if turn.wait(self._max_wait_seconds):
            return
        with self._lock:
            if not turn.is_set():  # else it got a place at the last moment
                self._waiting.discard(tenant_id, "", turn)
                raise HashingBusy

    def give_back(self, seconds: float) -> None:
        """Give a place back after a hash of so many seconds."""
        with self._lock:
            self.recent_seconds += _AVERAGE_WEIGHT * (seconds - self.recent_seconds)
            turn = self._waiting.pop()
            if turn is None:
                self._free += 1
            else:
                turn.set()


class _Place:
    """A place of a limiter while the block runs."""

    __slots__ = ("_limiter", "_started", "_tenant_id")

    def __init__(self, limiter: HashLimiter, tenant_id: str) -> None:
        self._limiter, self._tenant_id = limiter, tenant_id

    def __enter__(self) -> None:
        self._limiter.take(self._tenant_id)
        self._started = monotonic()

    def __exit__(self, *_: object) -> None:
        self._limiter.give_back(monotonic() - self._started)


class Hashing:
    """Hashes and verifies passwords. Tenants take turns by `tenant_id`. Raises HashingBusy."""

    def __init__(self, at_once: int) -> None:
        self._limiter = HashLimiter(max(1, at_once))

    def recent_seconds(self) -> float:
        """Return the moving average of the duration of a hash, in seconds."""
        return self._limiter.recent_seconds

    def hash(self, password: str, parameters: Argon2, tenant_id: str = "") -> str:
        """Return the hash in PHC format."""
        with self._limiter.place(tenant_id):
            return _hasher(parameters).hash(_bytes(password))

    def is_match(self, stored: str | None, password: str, parameters: Argon2, tenant_id: str = "") -> bool:
        """Return whether the password matches the stored hash. Without a stored hash return False after the same time."""
        hasher = _hasher(parameters)
        with self._limiter.place(tenant_id):
            if stored is not None and imported_hashes.is_imported(stored):
                return imported_hashes.is_match(stored, _bytes(password))
            try:
                hasher.verify(stored or _dummy_hash(parameters), _bytes(password))
                return stored is not None
            except (VerificationError, InvalidHashError):
                return False

    def is_stale(self, stored: str, parameters: Argon2) -> bool:
        """Return whether the hash was made with parameters other than the tenant's present ones, or by another system."""
        return _current_form(parameters).fullmatch(stored) is None


def _bytes(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=256)
def _hasher(parameters: Argon2) -> PasswordHasher:
    return PasswordHasher(parameters.iterations, parameters.memory_kib, parameters.parallelism, type=Type.ID)


@lru_cache(maxsize=256)
def _current_form(parameters: Argon2) -> re.Pattern[str]:
    """Return the form of hashes with these parameters. argon2's own comparison takes a hash apart, for ten times as long."""
    made = _hasher(parameters)
    base64, salt, digest = "[A-Za-z0-9+/]", _base64_length(made.salt_len), _base64_length(made.hash_len)
    costs = f"m={made.memory_cost},t={made.time_cost},p={made.parallelism}"
    return re.compile(rf"\$argon2id\$v={ARGON2_VERSION}\${costs}\${base64}{{{salt}}}\${base64}{{{digest}}}")


def _base64_length(size_bytes: int) -> int:
    """Return the length of so many bytes in base64 without padding."""
    return -(-size_bytes * 4 // 3)


@lru_cache(maxsize=256)
def _dummy_hash(parameters: Argon2) -> str:
    """Return the hash of a dummy password, so that an unknown account costs the same time as a known one."""
    return _hasher(parameters).hash(b"nobody has this password")
