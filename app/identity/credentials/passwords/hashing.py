"""Password hashing with argon2id, and verification of the hashes that other systems made (`imported_hashes.py`).

A bounded number of hashes run at once; tenants take turns. A hash that costs more than ten of ours (`hash_cost.py`) runs in a
separate lane, so that no ordinary hash waits for it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import lru_cache, partial

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION

from app.contract.tenants.settings import Argon2
from app.identity.credentials.passwords import hash_cost, imported_hashes
from app.identity.credentials.passwords.hash_limiter import ExpensiveLane, HashLimiter, Result
from app.identity.credentials.passwords.imported_hashes import UnusableHash
from app.identity.platform.password_hashing import normalize

log = logging.getLogger("gatehouse.hashing")


class Argon2Hashing:
    """Hashes and verifies passwords. Tenants take turns by `tenant_id`. Raises HashingBusy."""

    def __init__(self, at_once: int) -> None:
        self._limiter = HashLimiter(max(1, at_once))
        self._lane = ExpensiveLane()

    def recent_seconds(self) -> float:
        """Return the moving average of the duration of a hash, in seconds; expensive ones do not count."""
        return self._limiter.recent_seconds

    def hash(self, password: str, parameters: Argon2, tenant_id: str = "") -> str:
        """Return the hash of the password's normal form, in PHC format."""
        typed = normalize(password).encode("utf-8", "surrogatepass")
        work = partial(_hasher(parameters).hash, typed)
        return self._run(work, hash_cost.of_parameters(parameters), tenant_id)

    def is_match(self, stored: str | None, form: str, parameters: Argon2, tenant_id: str = "") -> bool:
        """Return whether the stored hash is of exactly this text. Without a usable one return False after the same time."""
        typed = form.encode("utf-8", "surrogatepass")
        if stored is not None and self.is_stale(stored, parameters):
            try:
                imported_hash = imported_hashes.read(stored)
            except UnusableHash as problem:
                log.warning("hashing.unusable", extra={"tenant": tenant_id, "reason": str(problem)})
                stored = None
            else:
                return self._run(partial(imported_hash.is_match, typed), imported_hash.cost, tenant_id)
        work = partial(_is_current_match, stored, typed, parameters)
        return self._run(work, hash_cost.of_parameters(parameters), tenant_id)

    def is_stale(self, stored: str, parameters: Argon2) -> bool:
        """Return whether the hash was made with parameters other than the tenant's present ones, or by another system."""
        return _current_form(parameters).fullmatch(stored) is None

    def is_expensive(self, stored: str, parameters: Argon2) -> bool:
        """Return whether the stored hash is stale, and costs more than ten of ours."""
        if not self.is_stale(stored, parameters):
            return False
        try:
            return imported_hashes.read(stored).cost > hash_cost.EXPENSIVE
        except UnusableHash:
            return False

    def _run(self, work: Callable[[], Result], cost: float, tenant_id: str) -> Result:
        if cost > hash_cost.EXPENSIVE:
            return self._lane.run(work, tenant_id)
        with self._limiter.place(tenant_id):
            return work()


def _is_current_match(stored: str | None, password: bytes, parameters: Argon2) -> bool:
    try:
        _hasher(parameters).verify(stored or _dummy_hash(parameters), password)
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


@lru_cache(maxsize=256)
def _hasher(parameters: Argon2) -> PasswordHasher:
    return PasswordHasher(parameters.iterations, parameters.memory_kib, parameters.parallelism, type=Type.ID)


@lru_cache(maxsize=256)
def _current_form(parameters: Argon2) -> re.Pattern[str]:
    """Return the form of hashes with these parameters. argon2's own comparison takes a hash apart, for ten times as long."""
    hasher = _hasher(parameters)
    base64, salt, digest = "[A-Za-z0-9+/]", _base64_length(hasher.salt_len), _base64_length(hasher.hash_len)
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return re.compile(rf"\$argon2id\$v={ARGON2_VERSION}\${costs}\${base64}{{{salt}}}\${base64}{{{digest}}}")


def _base64_length(size_bytes: int) -> int:
    """Return the length of so many bytes in base64 without padding."""
    return -(-size_bytes * 4 // 3)


@lru_cache(maxsize=256)
def _dummy_hash(parameters: Argon2) -> str:
    """Return the hash of a dummy password, so that an unknown account costs the same time as a known one."""
    return _hasher(parameters).hash(b"nobody has this password")
