"""Claims from the interface's profile."""

from dataclasses import replace
from typing import Any

import pytest

from app.identity.directory.accounts.profile.profile_document import claimable_of, profile_of
from app.identity.protocols.oauth.claims import account_claims
from tests.support.accounts.profiles import ADA, NOW


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ("12-10-1815", "1815-12-10"),
        ("12/10/1815", "1815-12-10"),
        ("1815-12-10", "1815-12-10"),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_birthdate_claim_is_iso_or_absent(stored: str | None, expected: str | None) -> None:
    assert account_claims.of({"BirthDate": stored}, ["birthdate"]) == ({"birthdate": expected} if expected else {})


def test_missing_profile_value_gives_no_claim() -> None:
    empty = {"Email": [], "EmailVerified": False, "Addresses": [], "PhoneIdVerified": False, "FullName": ""}
    assert account_claims.of(empty, account_claims.names(account_claims.SCOPES)) == {}


def test_address_claim_falls_back_from_region_to_state() -> None:
    expected = account_claims.of({"Addresses": [{"City": "Austin", "State": "TX"}]}, ["address"])
    assert expected == {"address": {"locality": "Austin", "region": "TX"}}


def test_email_claim_is_the_first_address() -> None:
    profile = {"Email": [{"Value": "a@example.test"}, {"Value": "b@example.test"}], "EmailVerified": True}
    assert account_claims.of(profile, ["email", "email_verified"]) == {
        "email": "a@example.test",
        "email_verified": True,
    }


def test_scopes_give_only_their_claims() -> None:
    assert account_claims.names(["phone", "openid", "unknown"]) == ["phone_number", "phone_number_verified"]
    assert account_claims.of({"Password": "x"}, ["Password", "sub"]) == {}


@pytest.mark.parametrize("is_filled", [True, False], ids=["filled", "empty"])
def test_claims_are_those_of_the_whole_profile(is_filled: bool) -> None:
    texts = (
        "FirstName",
        "LastName",
        "MiddleName",
        "NickName",
        "ProfileUrl",
        "ImageUrl",
        "Website",
        "Gender",
        "TimeZone",
    )
    stored: dict[str, Any] = {name: name.lower() for name in (*texts, "LocalLanguage")}
    stored |= {
        "BirthDate": "12-10-1815",
        "Addresses": [{"City": "Austin", "State": "TX"}],
        "FullName": "kept by mistake",
    }
    known: dict[str, Any] = {
        "username": "ada",
        "phone": "+14155550100",
        "phone_verified": True,
        "profile_modified_at": NOW,
    }
    account = replace(ADA, profile=stored, **known) if is_filled else replace(ADA, emails=[])
    expected = account_claims.names(account_claims.SCOPES)
    found = account_claims.of(claimable_of(account), expected)
    assert found == account_claims.of(profile_of(account), expected)
    assert set(found) == (set(expected) if is_filled else {"updated_at"})
