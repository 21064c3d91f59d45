"""Sign-ins that a program continues after a required action: the rules of a sign-in are asked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.second_factors.challenge import FactorKind
from tests.support.accounts.consents import POLICY, consent_answers, required_forms
from tests.support.accounts.pinned import REQUIRED, first
from tests.support.authenticators import DRIVERS
from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.organizations.management import PATH, Business
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

Continue = Callable[[AccountHolder, dict[str, Any]], TestResponse]
TOTP = next(driver for driver in DRIVERS if driver.kind is FactorKind.TOTP)


def accepts(who: AccountHolder, data: dict[str, Any]) -> TestResponse:
    return who.tenant.send("GET", "/identity/v2/auth/privacypolicy/accept", bearer=data["access_token"])


def consents(who: AccountHolder, data: dict[str, Any]) -> TestResponse:
    return who.call("U83", consent_answers("FirstLogin"), consenttoken=data["ConsentToken"])


def sets_pin(who: AccountHolder, data: dict[str, Any]) -> TestResponse:
    return first(who, data["PINAuthToken"])


continued = pytest.mark.parametrize(
    ("settings", "go_on"),
    [({"privacy_policy": POLICY}, accepts), (required_forms("FirstLogin"), consents), (REQUIRED, sets_pin)],
)


def held_up(who: AccountHolder) -> dict[str, Any]:
    """Show the password, and return what continues the sign-in."""
    answer = who.logs_in()
    assert answer.status_code == 403
    return dict(answer.get_json()["Data"])


@continued
def test_second_factor_that_came_meanwhile_is_asked(
    new_tenant_server: NewTenantServer, settings: dict[str, Any], go_on: Continue
) -> None:
    who = account_holder(new_tenant_server, **settings)
    data = held_up(who)
    who.tenant.change_settings(**TOTP.tenant_settings(two_factor="required"))
    assert refused(go_on(who, data)) == (403, 1176)


@continued
def test_policy_that_came_meanwhile_is_asked(
    new_tenant_server: NewTenantServer, settings: dict[str, Any], go_on: Continue
) -> None:
    who = account_holder(new_tenant_server, passwordless_email=True, **settings)
    data, business = held_up(who), Business(who.tenant)
    org = business.create()
    answered(business.assign(who.uid, org, business.role(org=org)))
    policy = {"MethodPolicy": {"AllowedMethods": ["email"]}}
    answered(business.send("PUT", f"{PATH}/{org}/policy", policy))
    assert refused(go_on(who, data)) == (403, 1220)


def test_refused_sign_in_ends_the_token_of_the_notice(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, privacy_policy=POLICY)
    data = held_up(who)
    who.set_columns(is_locked=True, lock_type="Block")
    assert refused(accepts(who, data)) == (403, 991)
    who.set_columns(is_locked=False)
    assert refused(accepts(who, data)) == (401, 1409)


def test_limit_of_sessions_does_not_count_the_token_twice(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, privacy_policy=POLICY)
    who.set_columns(session_limit=1)
    assert answered(accepts(who, held_up(who)))["Uid"] == who.uid
