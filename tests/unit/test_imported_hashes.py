"""Password hashes of other systems, by published vectors and by what real exports hold."""

import base64
import hashlib

import bcrypt
import pytest

from app.contract.configuration import Argon2
from app.identity.credentials.passwords import imported_hashes
from app.identity.credentials.passwords.hashing import Hashing
from app.identity.credentials.passwords.imported_hashes import UnusableHash

OPENBSD = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
"""The vector of OpenBSD's tests for `U*U`."""
RFC_7914 = base64.b64encode(
    bytes.fromhex(
        "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
    )
).decode()
RFC_7914_PBKDF2 = base64.b64encode(
    bytes.fromhex("55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc")
).decode()
RFC_6070 = base64.b64encode(bytes.fromhex("4b007901b765489abead49d926f721d065a429c1")).decode()
KEYCLOAK_ARGON2 = "$argon2id$v=19$m=65536,t=4,p=1$VUxDT0lMWTFLT2xwNnVPVw$PMj1VthGWlVYthrRiAjw76UQf0Hqjcwn+jMRxTfS0GE"
"""Of keycloak/keycloak issue 38177, for `secretpass`."""
MATCHES = {
    "bcrypt": (OPENBSD, "U*U"),
    "bcrypt of PHP": (OPENBSD.replace("$2a$", "$2y$"), "U*U"),
    "scrypt": (f"$scrypt$ln=10,r=8,p=16${base64.b64encode(b'NaCl').decode()}${RFC_7914}", "password"),
    "pbkdf2-sha256": (f"$pbkdf2-sha256$i=1${base64.b64encode(b'salt').decode()}${RFC_7914_PBKDF2}", "passwd"),
    "pbkdf2-sha1": (
        f"$pbkdf2-sha1$i=4096,l=20${base64.b64encode(b'salt').decode().rstrip('=')}${RFC_6070}",
        "password",
    ),
    "argon2i": ("$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA", "password"),
    "argon2id": (KEYCLOAK_ARGON2, "secretpass"),
}
PARAMETERS = Argon2(memory_kib=8192, iterations=1)


@pytest.mark.parametrize("name", MATCHES)
def test_vector_matches_its_password_alone(name: str) -> None:
    stored, password = MATCHES[name]
    hashing = Hashing(1)
    assert hashing.is_match(stored, password, PARAMETERS)
    assert not hashing.is_match(stored, f"{password}.", PARAMETERS)
    assert hashing.is_stale(stored, PARAMETERS)


def test_long_password_matches_by_what_bcrypt_reads() -> None:
    password = "ä" * 60
    stored = bcrypt.hashpw(password.encode()[:72], bcrypt.gensalt(4)).decode()
    assert imported_hashes.is_match(stored, password.encode())


def test_malformed_bcrypt_hash_matches_nothing() -> None:
    """It may have been stored before hashes were checked on import."""
    assert not imported_hashes.is_match(OPENBSD[:20], b"U*U")


def test_zero_byte_in_a_password_is_no_error() -> None:
    assert not Hashing(1).is_match(OPENBSD, "U*\0U", PARAMETERS)


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "secret",
        "$1$salt$hash",
        "$2b$10$short",
        OPENBSD.replace("$05$", "$31$"),
        "$pbkdf2-sha256$i=900000000$c2FsdA$" + RFC_7914_PBKDF2,
        "$pbkdf2-sha256$i=0$c2FsdA$" + RFC_7914_PBKDF2,
        "$pbkdf2-md5$i=1000$c2FsdA$" + RFC_7914_PBKDF2,
        "$pbkdf2-sha256$i=1000$c2FsdA$AAAA",
        f"$scrypt$ln=24,r=8,p=1$c2FsdA${RFC_7914}",
        f"$scrypt$ln=14,r=0,p=1$c2FsdA${RFC_7914}",
        KEYCLOAK_ARGON2.replace("m=65536", "m=4194304"),
        KEYCLOAK_ARGON2.replace("t=4", "t=400"),
        "$argon2id$v=19$m=65536$x$y",
        "$argon2id$v=19$m=1,t=1,p=4$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA",
    ],
    ids=range(15),
)
def test_unusable_or_costly_hash_is_refused(stored: str) -> None:
    with pytest.raises(UnusableHash):
        imported_hashes.check(stored)


@pytest.mark.parametrize("name", [name for name in MATCHES if name != "scrypt"])
def test_usable_hash_is_accepted(name: str) -> None:
    imported_hashes.check(MATCHES[name][0])


def test_scrypt_may_need_128_mebibytes() -> None:
    imported_hashes.check(f"$scrypt$ln=17,r=8,p=1$c2FsdA${RFC_7914}")
    with pytest.raises(UnusableHash):
        imported_hashes.check(f"$scrypt$ln=17,r=9,p=1$c2FsdA${RFC_7914}")


def test_built_hash_matches() -> None:
    derived = hashlib.pbkdf2_hmac("sha512", b"pass", b"16 bytes of salt", 1000, 64)
    stored = imported_hashes.pbkdf2("sha512", 1000, b"16 bytes of salt", derived)
    imported_hashes.check(stored)
    assert imported_hashes.is_match(stored, b"pass")
    assert not imported_hashes.is_match(stored, b"path")
