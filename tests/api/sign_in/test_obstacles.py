"""Every sign-in method × everything that withholds a session after the last factor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts.consents import POLICY, required_forms
from tests.support.accounts.pinned import REQUIRED, session, sign_in_with_pin
from tests.support.credentials.passkeys import PasskeyHolder, passkey_holder
from tests.support.operation_cases.sign_in_methods import EVERY, METHODS
from tests.support.organizations.management import PATH, Business
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

Finish = Callable[[], TestResponse]
SETTINGS: dict[str, tuple[dict[str, Any], int]] = {
    "privacy policy": ({"privacy_policy": POLICY}, 1194),
    "consent forms": (required_forms("FirstLogin"), 1226),
    "PIN": (REQUIRED, 1243),
}


def pin(who: PasskeyHolder) -> Finish:
    return partial(sign_in_with_pin, who, session(who))


def second_factor(who: PasskeyHolder) -> Finish:
    who.tenant.change_settings(two_factor="optional")
    who.enrols()
    token = who.token()
    return lambda: who.shows_code(who.next_code(), token)


SIGN_INS: dict[str, tuple[str, Callable[[PasskeyHolder], Finish]]] = {
    **{name: (method, partial(partial, act)) for name, (method, act) in METHODS.items()},
    "PIN": ("pin", pin),
    "second factor": ("password", second_factor),
}
"""The method of each sign-in, and what it does before its last request."""


@pytest.fixture
def who(new_tenant_server: NewTenantServer) -> PasskeyHolder:
    return passkey_holder(new_tenant_server, **EVERY).add_passkey()


@pytest.mark.parametrize(("name", "obstacle"), [pair for pair in product(SIGN_INS, SETTINGS) if pair != ("PIN", "PIN")])
def test_tenants_requirement_withholds_the_session(who: PasskeyHolder, name: str, obstacle: str) -> None:
    settings, code = SETTINGS[obstacle]
    finish = SIGN_INS[name][1](who)
    who.tenant.change_settings(**settings)
    assert refused(finish()) == (403, code)


@pytest.mark.parametrize("name", SIGN_INS)
def test_organizations_policy_withholds_the_session(who: PasskeyHolder, name: str) -> None:
    method, begin = SIGN_INS[name]
    business = Business(who.tenant)
    org = business.create("")
    answered(business.assign(who.uid, org, business.role(org=org)))
    finish = begin(who)
    policy = {"MethodPolicy": {"AllowedMethods": ["passkey" if method == "password" else "password"]}}
    answered(business.send("PUT", f"{PATH}/{org}/policy", policy))
    assert refused(finish()) == (403, 1220)


@pytest.mark.parametrize("name", ["email link", "email code", "text message", "smart login"])
def test_closed_account_gets_no_challenge(who: PasskeyHolder, name: str) -> None:
    """The second factor that it has enrolled is not asked for, and no code is sent."""
    who.tenant.change_settings(two_factor="optional")
    who.enrols()
    finish = SIGN_INS[name][1](who)
    who.update_account(DisableLogin=True)
    assert refused(finish()) == (403, 1130)
