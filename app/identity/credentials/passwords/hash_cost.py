"""Estimates the cost of a password hash of any format, as a multiple of our own: argon2id with 19 MiB and two iterations, 16 to 20 ms.

The numbers were measured beside it on one core, and rounded so that no format is estimated as cheaper than it is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from app.contract.tenants.settings import Argon2

EXPENSIVE: Final = 10
"""A hash above this runs apart from all others (`Hashing`)."""
MAX_COST: Final = 100
"""A hash above this is never computed, unless the tenant chose its parameters itself."""
_OURS: Final = Argon2()
_PBKDF2_ITERATIONS: Final = {"sha1": 95_000, "sha256": 85_000, "sha512": 42_000}
"""Iterations of one block."""
DIGEST_BYTES: Final = {"sha1": 20, "sha256": 32, "sha512": 64}
"""Bytes of one block: PBKDF2 runs all iterations again for each block of the derived key (RFC 8018 section 5.2)."""
_SCRYPT_KIB: Final = 8_192
_BCRYPT_ROUNDS: Final = 340


def pbkdf2(digest: str, iterations: int, derived_bytes: int) -> float:
    """Return the cost of PBKDF2 with sha1, sha256 or sha512."""
    blocks = -(-derived_bytes // DIGEST_BYTES[digest])
    return iterations * blocks / _PBKDF2_ITERATIONS[digest]


def scrypt(log_n: int, r: int, p: int) -> float:
    """Return the cost of scrypt, at least that of its memory."""
    kib = 128 * r * 2.0**log_n / 1024
    return max(kib * p / _SCRYPT_KIB, memory(kib))


def bcrypt(log_rounds: int) -> float:
    """Return the cost of bcrypt."""
    return 2.0**log_rounds / _BCRYPT_ROUNDS


def argon2(memory_kib: int, iterations: int) -> float:
    """Return the cost of argon2 on one core, at least that of its memory."""
    return max(memory_kib * iterations / (_OURS.memory_kib * _OURS.iterations), memory(memory_kib))


@lru_cache(maxsize=256)
def of_parameters(parameters: Argon2) -> float:
    """Return the cost of a hash that a tenant's settings make."""
    return argon2(parameters.memory_kib, parameters.iterations)


def memory(kib: float) -> float:
    """Return the cost of a hash that occupies so much memory: that of as many of ours at once."""
    return kib / _OURS.memory_kib
