"""Claims from the interface's profile."""

import pytest

from app.identity.protocols.oauth import claims


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ("12-10-1815", "1815-12-10"),
        ("12/10/1815", "1815-12-10"),
        ("1815-12-10", "1815-12-10"),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_a_birthday_is_told_year_first_or_not_at_all(kept: str | None, told: str | None) -> None:
    assert claims.of({"BirthDate": kept}, ["birthdate"]) == ({"birthdate": told} if told else {})


def test_what_a_profile_lacks_is_left_out() -> None:
    empty = {"Email": [], "EmailVerified": False, "Addresses": [], "PhoneIdVerified": False, "FullName": ""}
    assert claims.of(empty, claims.names(claims.SCOPES)) == {}


def test_an_address_falls_back_from_region_to_state() -> None:
    told = claims.of({"Addresses": [{"City": "Austin", "State": "TX"}]}, ["address"])
    assert told == {"address": {"locality": "Austin", "region": "TX"}}


def test_the_first_address_of_the_account_is_its_email() -> None:
    profile = {"Email": [{"Value": "a@example.test"}, {"Value": "b@example.test"}], "EmailVerified": True}
    assert claims.of(profile, ["email", "email_verified"]) == {"email": "a@example.test", "email_verified": True}


def test_scopes_stand_for_their_claims_and_others_for_none() -> None:
    assert claims.names(["phone", "openid", "unknown"]) == ["phone_number", "phone_number_verified"]
    assert claims.of({"Password": "x"}, ["Password", "sub"]) == {}
