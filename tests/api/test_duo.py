"""Duo as a second factor: led away and back, proved once, for one person and one sign-in (interface mfa.md rows M12, M26, M35)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from app.identity.house import House
from tests.support.devices import keeps
from tests.support.duo import DUO, SECRET, FakeDuo, duo
from tests.support.factors import Factored, factored
from tests.support.races import at_once
from tests.support.tenant_server import NewTenantServer, answered, refused

BACK = "https://shop.example/duo"
ONE_STORE = pytest.mark.parametrize("house", ["sqlite"], indirect=True, scope="session")


@pytest.fixture
def there(house: House) -> Iterator[FakeDuo]:
    with duo(house) as running:
        yield running


def with_duo(make: NewTenantServer, **settings: Any) -> Factored:
    factors = {"duo": True, "email": False, "passkey": False, "totp": False}
    who = factored(make, **{"duo": {**DUO, "redirect_uris": [BACK]}, "second_factors": factors, **settings})
    keeps(who.tenant, duo={"client_secret": SECRET})
    return who


def enrolled(make: NewTenantServer, there: FakeDuo, **settings: Any) -> Factored:
    who = with_duo(make, **settings)
    shown = answered(who.tenant.send("GET", "/identity/v2/auth/account/2fa", bearer=who.bearer, duoredirecturi=BACK))
    answered(who.own("PUT", "duo", there.passed(shown["DuoAuthEndpoint"])))
    return who


def led(who: Factored, back: str = BACK) -> tuple[str, str]:
    """Show the password; return the challenge's token, and where the browser is led."""
    challenge = who.challenged(duoredirecturi=back)
    return challenge["SecondFactorAuthenticationToken"], challenge["DuoAuthEndpoint"]


def test_what_duo_says_ends_the_sign_in_once(new_tenant_server: NewTenantServer, there: FakeDuo) -> None:
    ada = enrolled(new_tenant_server, there)
    token, address = led(ada)
    assert "duo_uname" not in address  # it travels signed
    proof = there.passed(address)
    assert answered(ada.proves("duo", proof, token))["Profile"]["Uid"] == ada.uid
    assert refused(ada.proves("duo", proof, token)) == (403, 1103)
    again, _ = led(ada)
    assert refused(ada.proves("duo", proof, again)) == (403, 1333)


def test_where_it_is_required_the_first_prompt_enrols(new_tenant_server: NewTenantServer, there: FakeDuo) -> None:
    ada = with_duo(new_tenant_server, two_factor="required")
    token, address = led(ada)
    assert answered(ada.proves("duo", there.passed(address), token))["Profile"]["Uid"] == ada.uid
    assert ada.challenged()["IsDuoAuthenticatorVerified"] is True


@ONE_STORE
@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"auth_result": {"result": "deny"}}, 1332),
        ({"auth_result": None}, 1332),
        ({"preferred_username": "eve@example.test"}, 1332),
        ({"nonce": "another"}, 1332),
        ({"aud": "another"}, 1332),
        ({"iss": "https://evil.example"}, 1332),
        ({"exp": 1}, 1332),
        ({"exp": None}, 1332),
    ],
    ids=lambda value: str(next(iter(value), "")) if isinstance(value, dict) else "",
)
def test_a_token_that_says_otherwise_opens_nothing(
    new_tenant_server: NewTenantServer, there: FakeDuo, said: dict[str, Any], code: int
) -> None:
    ada = enrolled(new_tenant_server, there)
    token, address = led(ada)
    assert refused(ada.proves("duo", there.passed(address, **said), token)) == (403, code)


@ONE_STORE
def test_a_token_under_another_secret_is_not_duos(new_tenant_server: NewTenantServer, there: FakeDuo) -> None:
    ada = enrolled(new_tenant_server, there)
    token, address = led(ada)
    there.secret = "z" * 40
    assert refused(ada.proves("duo", there.passed(address), token)) == (403, 1332)


@ONE_STORE
def test_a_state_is_of_one_person_and_one_sign_in(new_tenant_server: NewTenantServer, there: FakeDuo) -> None:
    ada, bob = enrolled(new_tenant_server, there), enrolled(new_tenant_server, there)
    mine, address = led(ada)
    other, _ = led(ada)
    proof = there.passed(address)
    assert refused(ada.proves("duo", proof, other)) == (403, 1333)
    assert refused(bob.proves("duo", proof, led(bob)[0])) == (403, 1333)
    assert refused(ada.proves("duo", {**proof, "state": "none"}, mine)) == (403, 1333)
    assert refused(ada.own("PUT", "duo", proof)) == (403, 1333)
    assert answered(ada.proves("duo", proof, mine))["Profile"]


@ONE_STORE
def test_a_code_that_duo_does_not_know_costs_the_state(new_tenant_server: NewTenantServer, there: FakeDuo) -> None:
    ada = enrolled(new_tenant_server, there)
    token, address = led(ada)
    proof = there.passed(address)
    assert refused(ada.proves("duo", {**proof, "code": "guessed"}, token)) == (403, 1332)
    assert refused(ada.proves("duo", proof, token)) == (403, 1333)


@ONE_STORE
def test_a_prompt_ends_after_ten_minutes(new_tenant_server: NewTenantServer, there: FakeDuo) -> None:
    ada = enrolled(new_tenant_server, there)
    _, address = led(ada)
    ada.waits(minutes=10)
    fresh, _ = led(ada)
    assert refused(ada.proves("duo", {"state": address.split("state=")[1][:36], "code": "x"}, fresh)) == (403, 1333)


def test_of_many_uses_of_one_proof_at_once_one_wins(new_tenant_server: NewTenantServer, there: FakeDuo) -> None:
    ada = enrolled(new_tenant_server, there)
    token, address = led(ada)
    proof = there.passed(address)
    answers = at_once([lambda: ada.proves("duo", proof, token).status_code for _ in range(10)])
    assert answers.count(200) == 1
    assert set(answers) == {200, 403}


@ONE_STORE
def test_the_password_alone_enrols_nothing_beside_what_is_there(
    new_tenant_server: NewTenantServer, there: FakeDuo
) -> None:
    factors = {"duo": True, "totp": True, "email": False, "passkey": False}
    ada = with_duo(new_tenant_server, second_factors=factors, two_factor="required")
    begun = answered(ada.tenant.send("GET", "/identity/v2/auth/account/2fa", bearer=ada.bearer, duoredirecturi=BACK))[
        "DuoAuthEndpoint"
    ]
    ada.enrols()
    challenge = ada.challenged(duoredirecturi=BACK)
    assert challenge["DuoAuthEndpoint"] is None
    token = challenge["SecondFactorAuthenticationToken"]
    assert refused(ada.proves("duo", there.passed(begun), token)) == (403, 1334)


@ONE_STORE
@pytest.mark.parametrize(
    ("back", "code"),
    [
        ("https://evil.example/duo", 1335), ("https://shop.example.evil.example/duo", 1335), ("javascript:alert(1)", 1336),
        ("//shop.example", 1336), ("https://shop.example/duo#x", 1336),
    ],
)  # fmt: skip
def test_browsers_come_back_only_to_where_the_tenant_says(
    new_tenant_server: NewTenantServer, there: FakeDuo, back: str, code: int
) -> None:
    ada = enrolled(new_tenant_server, there)
    assert refused(ada.signs_in(duoredirecturi=back)) == (403, code)
    shown = ada.tenant.send("GET", "/identity/v2/auth/account/2fa", bearer=ada.bearer, duoredirecturi=back)
    assert shown.status_code == 200  # it is enrolled: nothing leads anywhere


@ONE_STORE
def test_without_duo_or_with_wrong_settings_nobody_is_led_anywhere(
    new_tenant_server: NewTenantServer, there: FakeDuo
) -> None:
    ada = enrolled(new_tenant_server, there)
    token, address = led(ada)
    keeps(ada.tenant, duo={"client_secret": ""})
    assert ada.challenged(duoredirecturi=BACK)["DuoAuthEndpoint"] is None
    assert refused(ada.proves("duo", there.passed(address), token)) == (403, 1331)
    off = with_duo(new_tenant_server, second_factors={"duo": False, "totp": True, "email": False}).enrols()
    assert refused(off.proves("duo", {"state": "x", "code": "y"}, off.token())) == (403, 1330)
    assert refused(off.own("DELETE", "duo")) == (403, 1330)


@ONE_STORE
def test_where_duo_does_not_answer_nobody_comes_in(new_tenant_server: NewTenantServer, house: House) -> None:
    with duo(house) as running:
        ada = enrolled(new_tenant_server, running)
        token, address = led(ada)
        proof = running.passed(address)
    kept = house.settings
    house.settings = type(kept)(**{**vars(kept), "duo_url": "http://127.0.0.1:9"})
    try:
        assert refused(ada.proves("duo", proof, token)) == (403, 1331)
    finally:
        house.settings = kept


@ONE_STORE
def test_it_is_removed(new_tenant_server: NewTenantServer, there: FakeDuo) -> None:
    ada = enrolled(new_tenant_server, there)
    assert answered(ada.own("DELETE", "duo")) == {"IsDeleted": True}
    assert refused(ada.own("DELETE", "authenticator/duo")) == (403, 1334)
    assert answered(ada.signs_in())["SecondFactorAuthentication"] is None
