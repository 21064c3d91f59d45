"""Password hashes that other systems made: accepted at an import, verified until the account's next sign-in renews them.

bcrypt and argon2 are stored as those systems write them, PBKDF2 and scrypt as PHC strings:
`$pbkdf2-sha256$i=27500$SALT$HASH` and `$scrypt$ln=14,r=8,p=1$SALT$HASH`, in base64 without padding.

Every number and length is bounded where a hash is read, at the import and again before each verification: older versions
stored hashes without these bounds.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from app.contract.tenants.settings import MAX_HASH_CHARACTERS
from app.identity.credentials.passwords import hash_cost

_BCRYPT: Final = re.compile(r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]")
"""The last characters of salt and hash have 4 and 2 bits that are always 0; the library refuses any other salt."""
_PBKDF2: Final = re.compile(r"\$pbkdf2-(sha1|sha256|sha512)\$i=([0-9]{1,19})(?:,l=([0-9]{1,9}))?\$([^$]+)\$([^$]+)")
_SCRYPT: Final = re.compile(r"\$scrypt\$ln=([0-9]{1,9}),r=([0-9]{1,19}),p=([0-9]{1,19})\$([^$]+)\$([^$]+)")
_ARGON2: Final = re.compile(
    r"\$argon2(id|i|d)(?:\$v=(16|19))?\$m=([0-9]{1,19}),t=([0-9]{1,19}),p=([0-9]{1,19})\$([^$]+)\$([^$]+)"
)
_BCRYPT_BYTES: Final = 72
"""bcrypt ignores the rest of a password; the library refuses it instead, so it is cut off here."""
_SALT_BYTES: Final = range(1, 129)
_ARGON2_SALT_BYTES: Final = range(8, 129)  # RFC 9106 section 3.1
_HASH_BYTES: Final = range(16, 129)
_BCRYPT_COSTS: Final = range(4, 15)
_PBKDF2_ITERATIONS: Final = range(1, 2_000_001)
_SCRYPT_LN: Final = range(1, 25)
_SCRYPT_R: Final = range(1, 129)
_SCRYPT_P: Final = range(1, 17)
MAX_SCRYPT_BYTES: Final = 128 * 1024 * 1024
_ARGON2_KIB: Final = range(8, 1_048_577)  # of `Argon2`: a tenant may have made hashes with earlier settings
_ARGON2_ITERATIONS: Final = range(1, 21)
_ARGON2_P: Final = range(1, 17)
MAX_IMPORTED_ARGON2_KIB: Final = 256 * 1024


class UnusableHash(Exception):
    """The hash has no supported format, or verifying it takes too long; the text says which."""


@dataclass(frozen=True)
class VerifiableHash:
    """A hash within its bounds."""

    cost: float
    """As a multiple of our own (`hash_cost.py`)."""
    is_match: Callable[[bytes], bool] = field(repr=False)
    """Return whether the password is that of the hash."""
    memory_kib: int = 0
    """Of argon2."""


def check(stored: str) -> None:
    """Raise UnusableHash unless an import may store the hash."""
    if (kib := read(stored).memory_kib) > MAX_IMPORTED_ARGON2_KIB:
        raise UnusableHash(f"expected at most {MAX_IMPORTED_ARGON2_KIB:,} KiB of argon2 memory (m); found {kib:,}")


def read(stored: str) -> VerifiableHash:
    """Return a hash of any format, argon2id included. Raises UnusableHash."""
    if len(stored) > MAX_HASH_CHARACTERS:
        raise UnusableHash(f"expected at most {MAX_HASH_CHARACTERS:,} characters; found {len(stored):,}")
    reader = next((reader for prefix, reader in _READERS.items() if stored.startswith(prefix)), None)
    if reader is None:
        raise UnusableHash("expected a bcrypt, PBKDF2, scrypt or argon2 hash")
    imported_hash = reader(stored)
    if imported_hash.cost > hash_cost.MAX_COST:
        raise UnusableHash(
            f"expected a hash that takes at most {hash_cost.MAX_COST} times as long as ours; with these parameters and "
            f"lengths it takes {imported_hash.cost:,.0f} times as long"
        )
    return imported_hash


def pbkdf2(digest: str, iterations: int, salt: bytes, derived: bytes) -> str:
    """Return a PBKDF2 hash in the stored form; `digest` is sha1, sha256 or sha512."""
    return f"$pbkdf2-{digest}$i={iterations}${_encoded(salt)}${_encoded(derived)}"


def argon2(kind: str, version: int, parameters: tuple[int, int, int], salt: bytes, derived: bytes) -> str:
    """Return an argon2 hash in the stored form; `parameters` are memory in KiB, iterations and parallelism."""
    memory, iterations, parallelism = parameters
    return f"$argon2{kind}$v={version}$m={memory},t={iterations},p={parallelism}${_encoded(salt)}${_encoded(derived)}"


def _read_bcrypt(stored: str) -> VerifiableHash:
    parts = _BCRYPT.fullmatch(stored)
    if parts is None:
        raise UnusableHash("expected a complete bcrypt hash, such as $2b$10$ and 53 characters")
    cost = _within(_BCRYPT_COSTS, int(parts[1]), "a bcrypt cost")
    return VerifiableHash(hash_cost.bcrypt(cost), partial(_is_bcrypt_match, stored))


def _read_pbkdf2(stored: str) -> VerifiableHash:
    parts = _PBKDF2.fullmatch(stored)
    if parts is None:
        raise UnusableHash("expected a complete PBKDF2 hash, such as $pbkdf2-sha256$i=27500$SALT$HASH")
    salt, derived = _decoded(parts[4], _SALT_BYTES, "PBKDF2 salt"), _decoded(parts[5], _HASH_BYTES, "PBKDF2 hash")
    iterations = _within(_PBKDF2_ITERATIONS, int(parts[2]), "PBKDF2 iterations (i)")
    if parts[3] is not None and int(parts[3]) != len(derived):
        raise UnusableHash(f"expected the length of the PBKDF2 hash (l) to be {len(derived)}; found {int(parts[3]):,}")

    def is_match(password: bytes) -> bool:
        derived_now = hashlib.pbkdf2_hmac(parts[1], password, salt, iterations, len(derived))
        return hmac.compare_digest(derived_now, derived)

    return VerifiableHash(hash_cost.pbkdf2(parts[1], iterations, len(derived)), is_match)


def _read_scrypt(stored: str) -> VerifiableHash:
    parts = _SCRYPT.fullmatch(stored)
    if parts is None:
        raise UnusableHash("expected a complete scrypt hash, such as $scrypt$ln=14,r=8,p=1$SALT$HASH")
    salt, derived = _decoded(parts[4], _SALT_BYTES, "scrypt salt"), _decoded(parts[5], _HASH_BYTES, "scrypt hash")
    log_n = _within(_SCRYPT_LN, int(parts[1]), "a scrypt cost (ln)")
    r = _within(_SCRYPT_R, int(parts[2]), "a scrypt block size (r)")
    p = _within(_SCRYPT_P, int(parts[3]), "a scrypt parallelism (p)")
    if log_n >= (most := 16 * r):  # RFC 7914 section 2: N is less than 2^(128 * r / 8)
        raise UnusableHash(f"expected a scrypt cost (ln) below {most} for r={r}; found {log_n}")
    if (size := 128 * r * 2**log_n) > MAX_SCRYPT_BYTES:
        raise UnusableHash(f"expected at most 128 MiB of scrypt memory (ln and r); found {size // 2**20:,} MiB")

    def is_match(password: bytes) -> bool:
        maxmem = 2 * MAX_SCRYPT_BYTES
        derived_now = hashlib.scrypt(password, salt=salt, n=2**log_n, r=r, p=p, maxmem=maxmem, dklen=len(derived))
        return hmac.compare_digest(derived_now, derived)

    return VerifiableHash(hash_cost.scrypt(log_n, r, p), is_match)


def _read_argon2(stored: str) -> VerifiableHash:
    parts = _ARGON2.fullmatch(stored)
    if parts is None:
        raise UnusableHash("expected a complete argon2 hash, such as $argon2id$v=19$m=7168,t=5,p=1$SALT$HASH")
    salt = _decoded(parts[6], _ARGON2_SALT_BYTES, "argon2 salt")
    derived = _decoded(parts[7], _HASH_BYTES, "argon2 hash")
    kib = _within(_ARGON2_KIB, int(parts[3]), "argon2 memory in KiB (m)")
    iterations = _within(_ARGON2_ITERATIONS, int(parts[4]), "argon2 iterations (t)")
    parallelism = _within(_ARGON2_P, int(parts[5]), "an argon2 parallelism (p)")
    if kib < 8 * parallelism:  # RFC 9106 section 3.1
        raise UnusableHash(
            f"expected at least {8 * parallelism} KiB of argon2 memory (m) for p={parallelism}; found {kib}"
        )
    # the library reads neither padding nor zeros before a number; a hash without a version is of 1.0
    plain = argon2(parts[1], int(parts[2] or 16), (kib, iterations, parallelism), salt, derived)
    return VerifiableHash(hash_cost.argon2(kib, iterations), partial(_is_argon2_match, plain), kib)


def _is_bcrypt_match(stored: str, password: bytes) -> bool:
    import bcrypt  # noqa: PLC0415 - only installations with imported accounts load it

    try:
        return bool(bcrypt.checkpw(password[:_BCRYPT_BYTES], stored.encode()))
    except ValueError:  # a salt or hash with impossible last bits
        return False


def _is_argon2_match(stored: str, password: bytes) -> bool:
    try:
        return PasswordHasher().verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False


def _within(bounds: range, value: int, name: str) -> int:
    if value not in bounds:
        raise UnusableHash(f"expected {name} from {bounds[0]:,} to {bounds[-1]:,}; found {value:,}")
    return value


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode().rstrip("=")


def _decoded(text: str, lengths: range, name: str) -> bytes:
    """Return the bytes of base64 with or without padding, also in the alphabet of passlib. Raises UnusableHash."""
    bare = text.replace(".", "+").rstrip("=")
    try:
        value = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except ValueError:
        raise UnusableHash(f"expected the {name} in base64") from None
    if len(value) not in lengths:
        raise UnusableHash(f"expected the {name} to have {lengths[0]} to {lengths[-1]} bytes; found {len(value):,}")
    return value


_READERS: Final[dict[str, Callable[[str], VerifiableHash]]] = {
    "$2": _read_bcrypt, "$pbkdf2-": _read_pbkdf2, "$scrypt$": _read_scrypt, "$argon2": _read_argon2,
}  # fmt: skip
