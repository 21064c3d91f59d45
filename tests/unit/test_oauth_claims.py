"""Claims from the interface's profile."""

import pytest

from app.identity.protocols.oauth import claims


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ("12-10-1815", "1815-12-10"),
        ("12/10/1815", "1815-12-10"),
        ("1815-12-10", "1815-12-10"),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_birthdate_claim_is_iso_or_absent(kept: str | None, expected: str | None) -> None:
    assert claims.of({"BirthDate": kept}, ["birthdate"]) == ({"birthdate": expected} if expected else {})


def test_missing_profile_value_gives_no_claim() -> None:
    empty = {"Email": [], "EmailVerified": False, "Addresses": [], "PhoneIdVerified": False, "FullName": ""}
    assert claims.of(empty, claims.names(claims.SCOPES)) == {}


def test_address_claim_falls_back_from_region_to_state() -> None:
    expected = claims.of({"Addresses": [{"City": "Austin", "State": "TX"}]}, ["address"])
    assert expected == {"address": {"locality": "Austin", "region": "TX"}}


def test_email_claim_is_the_first_address() -> None:
    profile = {"Email": [{"Value": "a@example.test"}, {"Value": "b@example.test"}], "EmailVerified": True}
    assert claims.of(profile, ["email", "email_verified"]) == {"email": "a@example.test", "email_verified": True}


def test_scopes_give_only_their_claims() -> None:
    assert claims.names(["phone", "openid", "unknown"]) == ["phone_number", "phone_number_verified"]
    assert claims.of({"Password": "x"}, ["Password", "sub"]) == {}
