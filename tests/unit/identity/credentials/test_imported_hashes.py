"""Password hashes of other systems, by published vectors and by what real exports hold."""

import base64
import hashlib

import bcrypt
import pytest

from app.contract.tenants.settings import Argon2
from app.identity.credentials.passwords import imported_hashes
from app.identity.credentials.passwords.hashing import Argon2Hashing
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
    "argon2id with padding": (KEYCLOAK_ARGON2.replace("$PMj1", "==$PMj1") + "=", "secretpass"),
    "argon2id in the alphabet of passlib": (KEYCLOAK_ARGON2.replace("+", "."), "secretpass"),
    "argon2id with zeros": (KEYCLOAK_ARGON2.replace("m=65536,t=4", "m=0065536,t=04"), "secretpass"),
}
PARAMETERS = Argon2(memory_kib=8192, iterations=1)


@pytest.mark.parametrize("name", MATCHES)
def test_vector_matches_its_password_alone(name: str) -> None:
    stored, password = MATCHES[name]
    hashing = Argon2Hashing(1)
    assert hashing.is_match(stored, password, PARAMETERS)
    assert not hashing.is_match(stored, f"{password}.", PARAMETERS)
    assert hashing.is_stale(stored, PARAMETERS)


def test_long_password_matches_by_what_bcrypt_reads() -> None:
    password = "ä" * 60
    stored = bcrypt.hashpw(password.encode()[:72], bcrypt.gensalt(4)).decode()
    assert imported_hashes.read(stored).is_match(password.encode())


def test_malformed_bcrypt_hash_matches_nothing() -> None:
    """It may have been stored before hashes were checked on import."""
    assert not Argon2Hashing(1).is_match(OPENBSD[:20], "U*U", PARAMETERS)


def test_zero_byte_in_a_password_is_no_error() -> None:
    assert not Argon2Hashing(1).is_match(OPENBSD, "U*\0U", PARAMETERS)


SALT, LONG_SALT, DERIVED, LONG = (base64.b64encode(b"x" * size).decode() for size in (16, 129, 32, 129))
REFUSED = {
    "": "expected a bcrypt, PBKDF2, scrypt or argon2 hash",
    "secret": "expected a bcrypt, PBKDF2, scrypt or argon2 hash",
    "$1$salt$hash": "expected a bcrypt, PBKDF2, scrypt or argon2 hash",
    f"$pbkdf2-sha256$i=1${'x' * 1_024}${DERIVED}": "at most 1,024 characters",
    "$2b$10$short": "a complete bcrypt hash",
    f"{OPENBSD[:28]}/{OPENBSD[29:]}": "a complete bcrypt hash",
    f"{OPENBSD[:-1]}/": "a complete bcrypt hash",
    OPENBSD.replace("$05$", "$31$"): "a bcrypt cost from 4 to 14; found 31",
    OPENBSD.replace("$05$", "$03$"): "a bcrypt cost from 4 to 14; found 3",
    f"$pbkdf2-md5$i=1000${SALT}${DERIVED}": "a complete PBKDF2 hash",
    f"$pbkdf2-sha256$i=2000001${SALT}${DERIVED}": "PBKDF2 iterations (i) from 1 to 2,000,000; found 2,000,001",
    f"$pbkdf2-sha256$i=0${SALT}${DERIVED}": "PBKDF2 iterations (i) from 1 to 2,000,000; found 0",
    f"$pbkdf2-sha256$i=1,l=64${SALT}${DERIVED}": "the length of the PBKDF2 hash (l) to be 32; found 64",
    f"$pbkdf2-sha256$i=1${LONG_SALT}${DERIVED}": "the PBKDF2 salt to have 1 to 128 bytes; found 129",
    f"$pbkdf2-sha256$i=1$!${DERIVED}": "the PBKDF2 salt in base64",
    f"$pbkdf2-sha256$i=1${SALT}${LONG}": "the PBKDF2 hash to have 16 to 128 bytes; found 129",
    f"$pbkdf2-sha256$i=1${SALT}$AAAA": "the PBKDF2 hash to have 16 to 128 bytes; found 3",
    imported_hashes.pbkdf2("sha1", 2_000_000, b"salt", b"x" * 128): "it takes 147 times as long",
    f"$scrypt$ln=25,r=1,p=1${SALT}${DERIVED}": "a scrypt cost (ln) from 1 to 24; found 25",
    f"$scrypt$ln=14,r=0,p=1${SALT}${DERIVED}": "a scrypt block size (r) from 1 to 128; found 0",
    f"$scrypt$ln=14,r=8,p=17${SALT}${DERIVED}": "a scrypt parallelism (p) from 1 to 16; found 17",
    f"$scrypt$ln=17,r=9,p=1${SALT}${DERIVED}": "128 MiB of scrypt memory (ln and r); found 144 MiB",
    f"$scrypt$ln=16,r=1,p=1${SALT}${DERIVED}": "a scrypt cost (ln) below 16 for r=1; found 16",
    f"$scrypt$ln=17,r=1,p=1${SALT}${DERIVED}": "a scrypt cost (ln) below 16 for r=1; found 17",
    f"$scrypt$ln=14,r=8,p=1${LONG_SALT}${DERIVED}": "the scrypt salt to have 1 to 128 bytes; found 129",
    f"$scrypt$ln=14,r=8,p=1$!${DERIVED}": "the scrypt salt in base64",
    f"$scrypt$ln=14,r=8,p=1${SALT}${LONG}": "the scrypt hash to have 16 to 128 bytes; found 129",
    f"$scrypt$ln=17,r=8,p=8${SALT}${DERIVED}": "it takes 128 times as long",
    "$argon2id$v=19$m=65536$x$y": "a complete argon2 hash",
    KEYCLOAK_ARGON2.replace("m=65536", "m=4194304"): "argon2 memory in KiB (m) from 8 to 1,048,576; found 4,194,304",
    KEYCLOAK_ARGON2.replace("m=65536", "m=524288"): "at most 262,144 KiB of argon2 memory (m); found 524,288",
    KEYCLOAK_ARGON2.replace("t=4", "t=21"): "argon2 iterations (t) from 1 to 20; found 21",
    KEYCLOAK_ARGON2.replace("p=1", "p=32768"): "an argon2 parallelism (p) from 1 to 16; found 32,768",
    KEYCLOAK_ARGON2.replace("m=65536", "m=262144").replace("t=4", "t=20"): "it takes 135 times as long",
    f"$argon2id$v=19$m=65536,t=4,p=1$AAAA${DERIVED}": "the argon2 salt to have 8 to 128 bytes; found 3",
    f"$argon2id$v=19$m=65536,t=4,p=1${SALT}${LONG}": "the argon2 hash to have 16 to 128 bytes; found 129",
    f"$argon2id$v=19$m=8,t=1,p=4${SALT}${DERIVED}": "at least 32 KiB of argon2 memory (m) for p=4; found 8",
}


EXTREMES = (
    "$scrypt$ln=15,r=1,p=1", "$scrypt$ln=16,r=2,p=1", "$scrypt$ln=1,r=128,p=16", "$scrypt$ln=13,r=128,p=1", "$scrypt$ln=17,r=8,p=1",
    "$argon2id$v=19$m=8,t=1,p=1", "$argon2id$m=128,t=1,p=16", "$argon2d$v=16$m=8,t=20,p=1", "$argon2i$v=19$m=262144,t=1,p=16",
    "$pbkdf2-sha1$i=1", "$pbkdf2-sha512$i=1,l=32",
)  # fmt: skip
"""Parameters at the ends of their bounds, which the libraries must compute."""


def test_hash_at_its_bounds_can_be_computed(subtests: pytest.Subtests) -> None:
    for parameters in EXTREMES:
        with subtests.test(parameters):
            stored = f"{parameters}${SALT}${DERIVED}"
            imported_hashes.check(stored)
            assert not imported_hashes.read(stored).is_match(b"password")


def test_scrypt_that_nothing_computes_matches_nothing() -> None:
    """Imports of older versions stored it, and each sign-in failed."""
    assert not Argon2Hashing(1).is_match(f"$scrypt$ln=16,r=1,p=1${SALT}${DERIVED}", "password", PARAMETERS)


def test_hash_beyond_a_bound_is_refused_by_its_name(subtests: pytest.Subtests) -> None:
    for stored, sentence in REFUSED.items():
        with subtests.test(sentence), pytest.raises(UnusableHash) as refusal:
            imported_hashes.check(stored)
        with subtests.test(f"{sentence}: in one sentence"):
            assert sentence in str(refusal.value)


COSTS = {
    "ours": ("$argon2id$v=19$m=19456,t=2,p=1", 1, 1),
    "argon2 of Keycloak": ("$argon2id$v=19$m=7168,t=5,p=1", 0.8, 1.2),
    "argon2 with much memory": ("$argon2id$v=19$m=262144,t=1,p=1", 12, 15),
    "scrypt of 16 MiB": ("$scrypt$ln=14,r=8,p=1", 1.4, 2.5),
    "scrypt of 128 MiB": ("$scrypt$ln=17,r=8,p=1", 14, 18),
    "pbkdf2-sha256 of one block": ("$pbkdf2-sha256$i=600000", 6, 8),
    "pbkdf2-sha512 of one block": ("$pbkdf2-sha512$i=210000", 4.5, 6),
}


@pytest.mark.parametrize("name", COSTS)
def test_cost_is_a_multiple_of_our_own(name: str) -> None:
    stored, least, most = COSTS[name]
    assert least <= imported_hashes.read(f"{stored}${SALT}${DERIVED}").cost <= most


def test_each_derived_block_costs_all_iterations() -> None:
    """As Keycloak derives 64 bytes with SHA-1, whose block has 20."""
    item, four = (imported_hashes.read(imported_hashes.pbkdf2("sha1", 1_300_000, b"salt", b"x" * n)) for n in (20, 64))
    assert four.cost == 4 * item.cost


def test_bcrypt_cost_doubles_with_each_step() -> None:
    twelve, fourteen = (imported_hashes.read(OPENBSD.replace("$05$", f"${n}$")).cost for n in (12, 14))
    assert (fourteen, 10 < twelve < 15) == (4 * twelve, True)


@pytest.mark.parametrize("name", MATCHES)
def test_usable_hash_is_accepted(name: str) -> None:
    imported_hashes.check(MATCHES[name][0])


def test_built_hash_matches() -> None:
    derived = hashlib.pbkdf2_hmac("sha512", b"pass", b"16 bytes of salt", 1000, 64)
    stored = imported_hashes.pbkdf2("sha512", 1000, b"16 bytes of salt", derived)
    imported_hashes.check(stored)
    assert imported_hashes.read(stored).is_match(b"pass")
    assert not imported_hashes.read(stored).is_match(b"path")
