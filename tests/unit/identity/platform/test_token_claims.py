"""Tests the stored claims of tokens: their keys in rows, values of other versions, and values of the wrong type."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from app.identity.platform.token_claims import NO_CLAIMS, TokenClaims

STORED: dict[str, Any] = {
    "issuer": "https://acme.example",
    "aud": ["shop"],
    "gty": "authorization_code",
    "granted": "openid email",
    "org_id": "org_1",
    "sid": "s1",
    "cnf": {"jkt": "thumbprint"},
    "act": {"sub": "orders@client"},
    "ends_at": 2_000_000_000,
    "auth_time": 1_900_000_000,
    "amr": ["pwd", "mfa"],
    "proved_at": 1_900_000_100,
    "before": {"methods": ["pwd"]},
    "userinfo_claims": ["email"],
    "id_token_values": {"email": ["ada@example.test"]},
    "authorization_details": [],
    "granted_details": [{"type": "payment"}],
    "remember_me": True,
    "provider": "Email",
}
"""A row as the version before the typed model wrote it."""


def test_row_of_earlier_version_is_read_and_written_alike() -> None:
    claims = TokenClaims.from_stored(STORED)
    assert (claims.stepped_up_at, claims.amr, claims.granted) == (1_900_000_100, ("pwd", "mfa"), "openid email")
    assert (claims.unfinished_sign_in, claims.authorization_details) == ({"methods": ["pwd"]}, ())
    assert json.loads(json.dumps(claims.to_stored())) == STORED


def test_claims_of_another_version_survive_a_change() -> None:
    claims = replace(TokenClaims.from_stored({"newer": [1], "acr": "2"}), stepped_up_at=5)
    assert claims.to_stored() == {"newer": [1], "acr": "2", "proved_at": 5}


def test_absent_claims_are_not_stored() -> None:
    assert NO_CLAIMS.to_stored() == {}
    assert TokenClaims.from_stored(STORED).only("acr", "amr").to_stored() == {"amr": ["pwd", "mfa"]}


@pytest.mark.parametrize("value", ["text", ["list"], {"a": 1}, None, 1.5], ids=str)
def test_value_of_another_type_is_absent(value: object) -> None:
    claims = TokenClaims.from_stored(dict.fromkeys(STORED, value))
    known = {name: var for name, var in vars(claims).items() if var is not None and name != "others"}
    assert all(item == (tuple(value) if isinstance(value, list) else value) for item in known.values())
    assert claims.ends_at is None
    assert claims.auth_time is None
