"""Duo as a second factor: redirect, callback and single use for one account and one sign-in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from app.identity.platform.services import IdentityServices
from tests.support.authenticators.duo import DuoDriver, Led
from tests.support.credentials.devices import store_service_secrets
from tests.support.credentials.factors import second_factor_holder
from tests.support.fakes.duo import FakeDuo, duo
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # both: test_all_authenticators


@pytest.fixture
def there(services: IdentityServices) -> Iterator[FakeDuo]:
    with duo(services) as running:
        yield running


def with_duo(make: NewTenantServer, **settings: Any) -> Led:
    factors = {"duo": True, "email": False, "passkey": False, "totp": False}
    return DuoDriver().equipped(
        second_factor_holder(make, **{**DuoDriver.settings, "second_factors": factors, **settings})
    )


def enrolled(make: NewTenantServer, there: FakeDuo, **settings: Any) -> Led:
    who = with_duo(make, **settings)
    answered(who.own("PUT", "duo", there.passed(who.begins())))
    return who


def led(who: Led) -> tuple[str, str]:
    """Sign in with the password; return the challenge's token and the redirect address."""
    token = who.token()
    return token, who.addresses[token]


@pytest.mark.parametrize(
    ("claims", "code"),
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
def test_id_token_with_wrong_claims_is_refused(
    new_tenant_server: NewTenantServer, there: FakeDuo, claims: dict[str, Any], code: int
) -> None:
    ada = enrolled(new_tenant_server, there)
    token, address = led(ada)
    assert refused(ada.answer_challenge("duo", there.passed(address, **claims), token)) == (403, code)


@pytest.mark.parametrize(
    ("claim", "seconds", "status"), [("exp", -30, 200), ("exp", -90, 403), ("iat", 30, 200), ("iat", 90, 403)]
)
def test_clocks_may_differ_by_a_minute(
    new_tenant_server: NewTenantServer, there: FakeDuo, claim: str, seconds: int, status: int
) -> None:
    ada = enrolled(new_tenant_server, there)
    token, address = led(ada)
    sent = there.passed(address, **{claim: int(there.now.timestamp()) + seconds})
    assert ada.answer_challenge("duo", sent, token).status_code == status


def test_id_token_signed_with_other_secret_is_refused(new_tenant_server: NewTenantServer, there: FakeDuo) -> None:
    ada = enrolled(new_tenant_server, there)
    token, address = led(ada)
    there.secret = "z" * 40
    assert refused(ada.answer_challenge("duo", there.passed(address), token)) == (403, 1332)


def test_state_is_bound_to_one_sign_in(new_tenant_server: NewTenantServer, there: FakeDuo) -> None:
    ada = enrolled(new_tenant_server, there)
    mine, address = led(ada)
    assert "duo_uname" not in address  # it is inside the signed request
    other, _ = led(ada)
    response = there.passed(address)
    assert refused(ada.answer_challenge("duo", response, other)) == (403, 1333)
    assert refused(ada.answer_challenge("duo", {**response, "state": "none"}, mine)) == (403, 1333)
    assert refused(ada.own("PUT", "duo", response)) == (403, 1333)
    assert answered(ada.answer_challenge("duo", response, mine))["Profile"]


def test_unknown_code_consumes_state(new_tenant_server: NewTenantServer, there: FakeDuo) -> None:
    ada = enrolled(new_tenant_server, there)
    token, address = led(ada)
    response = there.passed(address)
    assert refused(ada.answer_challenge("duo", {**response, "code": "guessed"}, token)) == (403, 1332)
    assert refused(ada.answer_challenge("duo", response, token)) == (403, 1333)


def test_prompt_expires_after_ten_minutes(new_tenant_server: NewTenantServer, there: FakeDuo) -> None:
    """At enrolment: at a sign-in the challenge has expired by then as well."""
    ada = with_duo(new_tenant_server)
    response = there.passed(ada.begins())
    ada.advance_clock(minutes=10)
    assert refused(ada.own("PUT", "duo", response)) == (403, 1333)


@pytest.mark.parametrize(
    ("back", "code"),
    [
        ("https://evil.example/duo", 1335), ("https://shop.example.evil.example/duo", 1335), ("javascript:alert(1)", 1336),
        ("//shop.example", 1336), ("https://shop.example/duo#x", 1336),
    ],
)  # fmt: skip
def test_foreign_redirect_uri_is_refused(
    new_tenant_server: NewTenantServer, there: FakeDuo, back: str, code: int
) -> None:
    ada = enrolled(new_tenant_server, there)
    assert refused(ada.signs_in(duoredirecturi=back)) == (403, code)
    shown = ada.tenant.send("GET", "/identity/v2/auth/account/2fa", bearer=ada.bearer, duoredirecturi=back)
    assert shown.status_code == 200  # already enrolled: no redirect is offered


def test_missing_duo_settings_are_refused(new_tenant_server: NewTenantServer, there: FakeDuo) -> None:
    ada = enrolled(new_tenant_server, there)
    token, address = led(ada)
    store_service_secrets(ada.tenant, duo={"client_secret": ""})
    assert ada.challenged()["DuoAuthEndpoint"] is None
    assert refused(ada.answer_challenge("duo", there.passed(address), token)) == (403, 1331)
    off = with_duo(new_tenant_server, second_factors={"duo": False, "totp": True, "email": False}).enrols()
    assert refused(off.answer_challenge("duo", {"state": "x", "code": "y"}, off.token())) == (403, 1330)
    assert refused(off.own("DELETE", "duo")) == (403, 1330)


def test_unreachable_duo_is_refused(new_tenant_server: NewTenantServer, services: IdentityServices) -> None:
    with duo(services) as running:
        ada = enrolled(new_tenant_server, running)
        token, address = led(ada)
        response = running.passed(address)
    former = services.settings
    services.settings = replace(former, duo_url="http://127.0.0.1:9")
    try:
        assert refused(ada.answer_challenge("duo", response, token)) == (403, 1331)
    finally:
        services.settings = former
