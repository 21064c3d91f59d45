"""Password hashing: argon2id, a bounded number at once, so that a flood of sign-ins cannot starve pages."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from app.contract.configuration import Argon2
from app.identity.store.unit import Cost
from app.kit.clock import thread_cpu_seconds


class Turnstile:
    """Lets `places` through at once; the others wait in the order they came (a plain semaphore lets newcomers overtake)."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._lock = threading.Lock()
        self._queue: deque[threading.Event] = deque()

    def __enter__(self) -> None:
        with self._lock:
            if self._free > 0 and not self._queue:
                self._free -= 1
                return
            turn = threading.Event()
            self._queue.append(turn)
        turn.wait()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._queue:
                self._queue.popleft().set()
            else:
                self._free += 1


class Hashing:
    """Hashes and verifies passwords."""

    def __init__(self, at_once: int) -> None:
        self._turnstile = Turnstile(max(1, at_once))

    def hash(self, password: str, parameters: Argon2) -> str:
        """Return the PHC text of the password's hash."""
        with self._turnstile:
            return _hasher(parameters).hash(_bytes(password))

    def is_match(self, stored: str | None, password: str, parameters: Argon2) -> bool:
        """Return whether the password made the stored hash. Without a stored one it costs the same and is false."""
        hasher = _hasher(parameters)
        with self._turnstile:
            try:
                hasher.verify(stored or _nobody(parameters), _bytes(password))
                return stored is not None
            except (VerificationError, InvalidHashError):
                return False

    def is_stale(self, stored: str, parameters: Argon2) -> bool:
        """Return whether the hash was made with other parameters than the tenant's present ones."""
        return _hasher(parameters).check_needs_rehash(stored)


class TenantHashing:
    """Hashing at a tenant's parameters; what it costs is counted on the call."""

    def __init__(self, hashing: Hashing, parameters: Argon2, cost: Cost) -> None:
        self._hashing = hashing
        self._parameters = parameters
        self._cost = cost

    def hash(self, password: str) -> str:
        """Return the PHC text of the password's hash."""
        with self._counted():
            return self._hashing.hash(password, self._parameters)

    def is_match(self, stored: str | None, password: str) -> bool:
        """Return whether the password made the stored hash. Without a stored one it costs the same and is false."""
        with self._counted():
            return self._hashing.is_match(stored, password, self._parameters)

    def is_stale(self, stored: str) -> bool:
        """Return whether the hash was made with other parameters than the tenant's present ones."""
        return self._hashing.is_stale(stored, self._parameters)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        begun = thread_cpu_seconds()
        try:
            yield
        finally:
            self._cost.hashes += 1
            self._cost.hash_microseconds += int((thread_cpu_seconds() - begun) * 1e6)


def _bytes(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=256)
def _hasher(parameters: Argon2) -> PasswordHasher:
    return PasswordHasher(parameters.iterations, parameters.memory_kib, parameters.parallelism, type=Type.ID)


@lru_cache(maxsize=256)
def _nobody(parameters: Argon2) -> str:
    """A hash of nobody's password, so that an unknown account costs what a known one does."""
    return _hasher(parameters).hash(b"nobody has this password")
