"""A JWT that a tenant signs equals the JWT that joserfc encodes."""

from __future__ import annotations

from typing import Any

import pytest
from joserfc import jwt

from app.identity.directory.tenants.keys.signing_algorithms import ALGORITHMS, compact_jwt

CLAIMS: dict[str, Any] = {
    "iss": "https://acme.example", "aud": ["a", "b"], "iat": 1, "exp": 2**40, "name": "\u00c5da \u2603 \U0001f600 \"'<>\\/\n",
    "email_verified": True, "address": {"region": None, "codes": [1.5, -3, []]}, "": {},
}  # fmt: skip


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_token_is_as_joserfc_encodes_it(algorithm: str) -> None:
    key = ALGORITHMS[algorithm].import_key(ALGORITHMS[algorithm].new_key())
    for kind in ("JWT", "at+jwt"):
        header = {"typ": kind, "alg": algorithm, "kid": f"a-{kind}"}
        ours = compact_jwt(header, CLAIMS, key)
        theirs = jwt.encode({**header}, {**CLAIMS}, key, algorithms=[algorithm])
        assert ours.rpartition(".")[0] == theirs.rpartition(".")[0]
        read = jwt.decode(ours, key, algorithms=[algorithm])
        assert (read.header, read.claims) == (header, CLAIMS)
