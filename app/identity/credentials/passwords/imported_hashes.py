"""Password hashes that other systems made: accepted at an import, verified until the account's next sign-in renews them.

bcrypt and argon2 are stored as those systems write them, PBKDF2 and scrypt as PHC strings:
`$pbkdf2-sha256$i=27500$SALT$HASH` and `$scrypt$ln=14,r=8,p=1$SALT$HASH`, in base64 without padding.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable
from typing import Final

from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import InvalidHashError, VerificationError

_OURS: Final = "$argon2id$"
_BCRYPT: Final = re.compile(r"\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}")
_PBKDF2: Final = re.compile(r"\$pbkdf2-(sha1|sha256|sha512)\$i=(\d{1,9})(?:,l=\d{1,4})?\$([^$]+)\$([^$]+)")
_SCRYPT: Final = re.compile(r"\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([^$]+)\$([^$]+)")
_BCRYPT_BYTES: Final = 72
"""bcrypt ignores the rest of a password; the library refuses it instead, so it is cut off here."""
_MIN_HASH_BYTES: Final = 16
MAX_BCRYPT_COST: Final = 14
MAX_PBKDF2_ITERATIONS: Final = 2_000_000
MAX_SCRYPT_BYTES: Final = 128 * 1024 * 1024
MAX_SCRYPT_PARALLELISM: Final = 8
MAX_ARGON2_KIB: Final = 256 * 1024
MAX_ARGON2_ITERATIONS: Final = 16
"""More than any of these would let an import file make sign-in slow for everyone."""


class UnusableHash(Exception):
    """The hash has no supported format, or verifying it takes too long; the text says which."""


def check(stored: str) -> None:
    """Raise UnusableHash unless the hash can be verified within the limits above."""
    for prefix, checked in _CHECKS.items():
        if stored.startswith(prefix):
            return checked(stored)
    raise UnusableHash("expected a bcrypt, PBKDF2, scrypt or argon2 hash")


def is_imported(stored: str) -> bool:
    """Return whether another system's format needs `is_match` here; argon2id is our own format."""
    return not stored.startswith(_OURS)


def is_match(stored: str, password: bytes) -> bool:
    """Return whether the password matches the hash; False for an unreadable one."""
    for prefix, matches in _MATCHES.items():
        if stored.startswith(prefix):
            return matches(stored, password)
    return False


def pbkdf2(digest: str, iterations: int, salt: bytes, derived: bytes) -> str:
    """Return a PBKDF2 hash in the stored form; `digest` is sha1, sha256 or sha512."""
    return f"$pbkdf2-{digest}$i={iterations}${_encoded(salt)}${_encoded(derived)}"


def argon2(kind: str, version: int, parameters: tuple[int, int, int], salt: bytes, derived: bytes) -> str:
    """Return an argon2 hash in the stored form; `parameters` are memory in KiB, iterations and parallelism."""
    memory, iterations, parallelism = parameters
    return f"$argon2{kind}$v={version}$m={memory},t={iterations},p={parallelism}${_encoded(salt)}${_encoded(derived)}"


def _check_bcrypt(stored: str) -> None:
    found = _BCRYPT.fullmatch(stored)
    if found is None:
        raise UnusableHash("expected a complete bcrypt hash, such as $2b$10$ and 53 characters")
    if not 4 <= int(found[1]) <= MAX_BCRYPT_COST:
        raise UnusableHash(f"expected a bcrypt cost from 4 to {MAX_BCRYPT_COST}; found {int(found[1])}")


def _check_pbkdf2(stored: str) -> None:
    found = _PBKDF2.fullmatch(stored)
    if found is None or not _decoded(found[3]) or len(_decoded(found[4])) < _MIN_HASH_BYTES:
        raise UnusableHash("expected a complete PBKDF2 hash, such as $pbkdf2-sha256$i=27500$SALT$HASH")
    if not 0 < int(found[2]) <= MAX_PBKDF2_ITERATIONS:
        raise UnusableHash(f"expected at most {MAX_PBKDF2_ITERATIONS:,} PBKDF2 iterations; found {int(found[2]):,}")


def _check_scrypt(stored: str) -> None:
    found = _SCRYPT.fullmatch(stored)
    if found is None or len(_decoded(found[5])) < _MIN_HASH_BYTES:
        raise UnusableHash("expected a complete scrypt hash, such as $scrypt$ln=14,r=8,p=1$SALT$HASH")
    ln, r, p = int(found[1]), int(found[2]), int(found[3])
    if not (ln >= 1 and r >= 1 and 128 * r * 2**ln <= MAX_SCRYPT_BYTES and 1 <= p <= MAX_SCRYPT_PARALLELISM):
        raise UnusableHash("expected scrypt parameters of at most 128 MiB and p=8")


def _check_argon2(stored: str) -> None:
    try:
        held = extract_parameters(stored)
    except (InvalidHashError, ValueError):
        raise UnusableHash("expected a complete argon2 hash, such as $argon2id$v=19$m=7168,t=5,p=1$SALT$HASH") from None
    is_cheap = held.memory_cost <= MAX_ARGON2_KIB and held.time_cost <= MAX_ARGON2_ITERATIONS
    is_possible = held.memory_cost >= 8 * held.parallelism > 0 and held.time_cost > 0  # RFC 9106 section 3.1
    if not (is_cheap and is_possible and held.hash_len >= _MIN_HASH_BYTES):
        raise UnusableHash(f"expected argon2 parameters of at most 256 MiB and t={MAX_ARGON2_ITERATIONS}")


def _is_bcrypt_match(stored: str, password: bytes) -> bool:
    import bcrypt  # noqa: PLC0415 - only installations with imported accounts load it

    try:
        return bool(bcrypt.checkpw(password[:_BCRYPT_BYTES], stored.encode()))
    except ValueError:  # a malformed hash
        return False


def _is_pbkdf2_match(stored: str, password: bytes) -> bool:
    found = _PBKDF2.fullmatch(stored)
    if found is None:
        return False
    wanted = _decoded(found[4])
    derived = hashlib.pbkdf2_hmac(found[1], password, _decoded(found[3]), int(found[2]), len(wanted))
    return hmac.compare_digest(derived, wanted)


def _is_scrypt_match(stored: str, password: bytes) -> bool:
    found = _SCRYPT.fullmatch(stored)
    if found is None:
        return False
    wanted, cost = _decoded(found[5]), {"n": 2 ** int(found[1]), "r": int(found[2]), "p": int(found[3])}
    derived = hashlib.scrypt(password, salt=_decoded(found[4]), **cost, maxmem=2 * MAX_SCRYPT_BYTES, dklen=len(wanted))
    return hmac.compare_digest(derived, wanted)


def _is_argon2_match(stored: str, password: bytes) -> bool:
    try:
        return PasswordHasher().verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    """Return the bytes of base64 with or without padding, also in the alphabet of passlib; none if it is malformed."""
    try:
        return base64.b64decode(text.replace(".", "+").rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), validate=True)
    except ValueError:
        return b""


_CHECKS: dict[str, Callable[[str], None]] = {
    "$2": _check_bcrypt, "$pbkdf2-": _check_pbkdf2, "$scrypt$": _check_scrypt, "$argon2": _check_argon2,
}  # fmt: skip
_MATCHES: dict[str, Callable[[str, bytes], bool]] = {
    "$2": _is_bcrypt_match, "$pbkdf2-": _is_pbkdf2_match, "$scrypt$": _is_scrypt_match, "$argon2": _is_argon2_match,
}  # fmt: skip
