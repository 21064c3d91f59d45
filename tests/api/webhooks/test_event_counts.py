"""One cause raises an event once: over the requests of one sign-in, and among concurrent requests."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pyotp
import pytest

from app.identity.directory.accounts.unverified import pending_accounts
from app.kit import randomness
from tests.support.accounts.customers import LOGIN
from tests.support.accounts.mailbox import token_in
from tests.support.accounts.registering import register
from tests.support.accounts.social_accounts import account_of, doing
from tests.support.operation_cases import factor_login
from tests.support.operation_cases.cases import AccountHolder, account_holder, events, solved
from tests.support.operation_cases.smart_login import TOUCH, Link, click, guid, poll
from tests.support.races import at_once
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

NEWCOMER = "grace@example.test"
pytestmark = pytest.mark.both_databases


def count(tenant: TenantServer) -> Counter[str]:
    return Counter(name for name, _ in events(tenant))


def one_touch(who: AccountHolder, **approval: str) -> str:
    """Begin a login that registers, without webhooks, and approve it; return what the device polls with."""
    stored, body = guid(), {"email": NEWCOMER}
    body["clientguid"] = stored
    challenge = who.call("U58", body)
    number = answered(who.call("U58", {**body, **solved(challenge)}, prevent_webhook="true"))["Number"]
    answered(click(who, Link.about(token_in(who.mailed(NEWCOMER)), number), "U61", **approval))
    return stored


@pytest.mark.parametrize("approval", [{}, {"welcomeemailtemplate": "welcome"}], ids=["plain", "with a template"])
def test_one_touch_stays_silent_from_its_beginning(
    new_tenant_server: NewTenantServer, approval: dict[str, str]
) -> None:
    who = account_holder(new_tenant_server, **TOUCH)
    stored = one_touch(who, **approval)
    before = len(events(who.tenant))
    answered(poll(who, stored))
    assert events(who.tenant)[before:] == [("Register", True), ("Login", True)]


@pytest.mark.parametrize("is_silent", [False, True])
def test_pending_registration_keeps_its_suppression(new_tenant_server: NewTenantServer, is_silent: bool) -> None:
    who = account_holder(new_tenant_server)
    with doing(who.tenant) as context:
        registering = context.without_webhooks() if is_silent else context
        stored = vars(account_of(context, who.uid))
        columns = {
            **stored,
            "uid": randomness.uid(),
            "profile_id": randomness.uid(),
            "email": NEWCOMER,
            "emails": [],
            "username": None,
            "phone": None,
        }
        pending = pending_accounts.add(registering, NEWCOMER, columns)
    with doing(who.tenant) as context:
        activated = pending_accounts.activate(context, pending.uid)
        assert activated is not None
        assert "is_silent" not in activated.private
    assert events(who.tenant)[-1] == ("Register", is_silent)


def test_concurrent_deletions_raise_one_event(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    answers = at_once([partial(who.tenant.send, "DELETE", f"{MANAGE}/{who.uid}")] * 5)
    assert sorted(answer.status_code for answer in answers) == [200, 403, 403, 403, 403]
    assert count(who.tenant)["DeleteAccount"] == 1


def test_concurrent_guesses_raise_one_lockout(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, lockout={"type": "suspend", "maximum_failed_attempts": 3})
    at_once([partial(who.ask, "POST", {"email": who.email, "password": "wrong"}, path=LOGIN)] * 10)
    assert count(who.tenant)["BlockAccount"] == 1


def test_lockout_after_expiry_is_another_one(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, lockout={"type": "suspend", "maximum_failed_attempts": 2})
    for _ in range(2):
        who.guesses(3)
        who.advance_clock(hours=1)
    assert count(who.tenant)["BlockAccount"] == 2


def test_registration_with_second_factor_is_one_login(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **factor_login.on(email_verification="optional"))
    assert refused(register(who.tenant, NEWCOMER)) == (403, 1176)
    assert count(who.tenant)["Login"] == 0
    holder = factor_login.of(who)
    holder.email = NEWCOMER
    begun = holder.challenged()
    holder.app = pyotp.TOTP(begun["ManualEntryCode"])
    answered(holder.shows_code(holder.shows(), begun["SecondFactorAuthenticationToken"]))
    assert count(who.tenant)["Login"] == 1
