"""A server that is asked in the midst of a sign-in: what the sign-in did before holds only if nothing changed meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler

import pytest
from pyotp import TOTP

from tests.support.credentials.factors import second_factor_holder
from tests.support.fakes.https_receiver import HttpsReceiver, answering, https_receiver
from tests.support.operation_cases.cases import AccountHolder, account_holder, events
from tests.support.operation_cases.passwordless import MAIL, ON, by_link, link
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused
from tests.support.workflows.drawings import Drawing, node, sequence
from tests.support.workflows.running import put_in_force

pytestmark = pytest.mark.both_databases


@pytest.fixture
def receiver() -> Iterator[HttpsReceiver]:
    with https_receiver() as started:
        yield started


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> AccountHolder:
    return account_holder(new_tenant_server, **ON)


def asking(receiver: HttpsReceiver, action: str = "continue", *before: Drawing) -> Drawing:
    receiver.answers(200, json.dumps({"Action": action}).encode())
    return sequence(*before, node("ask", "HttpCall", url=receiver.url("/ask"), on_failure="deny"))


def meanwhile(receiver: HttpsReceiver, act: Callable[[], object]) -> None:
    """Let something happen before the server answers for the first time."""
    answer = answering(200, json.dumps({"Action": "continue"}).encode(), {})

    def first(handler: BaseHTTPRequestHandler) -> None:
        receiver.answer = answer
        act()
        answer(handler)

    receiver.answer = first


def logins(who: AccountHolder) -> int:
    return [name for name, _ in events(who.tenant)].count("Login")


def test_link_signs_in_one_of_two_that_ask(ada: AccountHolder, receiver: HttpsReceiver) -> None:
    put_in_force(ada.tenant, asking(receiver))
    token = link(ada)
    meanwhile(receiver, lambda: answered(by_link(ada, token)))
    assert refused(by_link(ada, token)) == (403, 1062)
    assert len(receiver.received) == 2
    assert logins(ada) == 1


def test_code_signs_in_one_of_two_that_ask(ada: AccountHolder, receiver: HttpsReceiver) -> None:
    put_in_force(ada.tenant, asking(receiver))
    code = MAIL.code(ada)
    meanwhile(receiver, lambda: answered(MAIL.shown(ada, code)))
    assert MAIL.shown(ada, code).status_code == 503  # the attempt is committed, so that the request is not repeated
    assert refused(MAIL.shown(ada, code)) == (403, 1186)
    assert logins(ada) == 1


def test_account_blocked_meanwhile_does_not_sign_in(ada: AccountHolder, receiver: HttpsReceiver) -> None:
    put_in_force(ada.tenant, asking(receiver))
    token = link(ada)
    meanwhile(receiver, lambda: ada.set_columns(is_active=False))
    assert refused(by_link(ada, token)) == (403, 991)
    assert logins(ada) == 0


def test_denied_sign_in_enrols_no_factor(new_tenant_server: NewTenantServer, receiver: HttpsReceiver) -> None:
    who = second_factor_holder(new_tenant_server, two_factor="required", email_verification="optional")
    who.set_columns(email_verified=False)  # else a mailed code is the factor
    put_in_force(who.tenant, asking(receiver, "deny", node("mfa", "MFA")))
    challenge = who.challenged()
    who.app = TOTP(challenge["ManualEntryCode"])
    assert refused(who.shows_code(who.shows(), challenge["SecondFactorAuthenticationToken"])) == (403, 8198)
    assert len(receiver.received) == 1
    assert not who.challenged()["IsAuthenticatorVerified"]
