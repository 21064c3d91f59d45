"""The method of a sign-in by its first `amr` value (decision 0195)."""

import pytest

from app.identity.authentication.sign_in import allowed_methods
from app.identity.credentials.passkeys.ceremonies import amr_of
from app.identity.directory.organizations.sign_in_methods import METHODS

AMR = {
    "pwd": "password",
    "otp": "email",
    "sms": "sms",
    "pin": "pin",
    "fed": "connection",
    amr_of({"synced": True}): "passkey",
    amr_of({"synced": False}): "passkey",
}


@pytest.mark.parametrize("first", AMR)
def test_first_amr_names_the_method(first: str) -> None:
    assert allowed_methods.method_of((first, "mfa")) == AMR[first]


def test_every_method_has_an_amr() -> None:
    assert set(AMR.values()) == set(METHODS)
    assert set(allowed_methods._BY_AMR) == {*AMR, "kba"}


def test_security_answers_are_no_method_to_allow() -> None:
    assert allowed_methods.method_of(("kba",)) not in METHODS


@pytest.mark.parametrize("amr", [("face",), ("mfa", "pwd"), ("",), ()])
def test_unknown_amr_is_no_method(amr: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="no sign-in method"):
        allowed_methods.method_of(amr)
