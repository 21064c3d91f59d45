"""The password hashing protocol; `credentials/passwords/hashing.py` implements it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final, Protocol

from app.contract.tenants.settings import Argon2
from app.identity.platform.store.unit_of_work import Cost
from app.kit.clock import thread_cpu_seconds

_MAX_PASSWORD_LENGTH: Final = 4096
"""Characters of the longest password that a request may set; sorting the marks of a longer text could take seconds."""


def normalize(password: str) -> str:
    """Return the password in NFKC (NIST SP 800-63B-4 section 3.1.1.2), which is hashed and compared.

    Keyboards and systems write one letter as different characters.
    """
    return unicodedata.normalize("NFKC", password) if len(password) <= _MAX_PASSWORD_LENGTH else password


class HashingBusy(Exception):
    """The hash queue was full for too long; responds 503 with Retry-After."""

    unavailable_status = 503
    retry_after_seconds = 5


class PasswordHashing(Protocol):
    """Hashes and verifies passwords with bounded concurrency. Raises HashingBusy."""

    def recent_seconds(self) -> float:
        """Return the recent duration of one hash, in seconds."""

    def hash(self, password: str, parameters: Argon2, tenant_id: str = "") -> str:
        """Return the hash of the password's normal form, in PHC format."""

    def is_match(self, stored: str | None, form: str, parameters: Argon2, tenant_id: str = "") -> bool:
        """Return whether the hash is of exactly this text. Without a hash, take the same time and return False."""

    def is_stale(self, stored: str, parameters: Argon2) -> bool:
        """Return whether the hash has other parameters."""

    def is_expensive(self, stored: str, parameters: Argon2) -> bool:
        """Return whether the hash is stale, and costs so much that it is to be replaced at once."""


@dataclass(slots=True)
class TenantHashing:
    """Password hashing with a tenant's parameters, its cost counted on the request."""

    hashing: PasswordHashing
    tenant_id: str
    parameters: Argon2
    cost: Cost

    def hash(self, password: str) -> str:
        """Return the hash of the password's normal form, in PHC format."""
        started = thread_cpu_seconds()
        try:
            return self.hashing.hash(password, self.parameters, self.tenant_id)
        finally:
            self._count(started)

    def is_match(self, stored: str | None, password: str) -> bool:
        """Return whether the stored hash is of this password. Without one, take the same time and return False."""
        return self.matching_form(stored, password) is not None

    def matching_form(self, stored: str | None, password: str) -> str | None:
        """Return the form of the password that the stored hash is of, or None if it is of another password.

        It is NFKC or, in hashes of older versions and other systems, the password as it was typed.
        Costs one hash, or two if the password is not in its normal form; without a stored hash as much as with a wrong one.
        """
        normal = normalize(password)
        forms = (normal,) if normal == password else (normal, password)
        return next((form for form in forms if self._is_hash_of(stored, form)), None)

    def _is_hash_of(self, stored: str | None, form: str) -> bool:
        started = thread_cpu_seconds()
        try:
            return self.hashing.is_match(stored, form, self.parameters, self.tenant_id)
        finally:
            self._count(started)

    def is_stale(self, stored: str) -> bool:
        """Return whether the hash has other parameters than the tenant's current ones."""
        return self.hashing.is_stale(stored, self.parameters)

    def is_expensive(self, stored: str) -> bool:
        """Return whether the hash is stale, and costs so much that it is to be replaced at once."""
        return self.hashing.is_expensive(stored, self.parameters)

    def _count(self, started: float) -> None:
        self.cost.hashes += 1
        self.cost.hash_microseconds += int((thread_cpu_seconds() - started) * 1e6)
