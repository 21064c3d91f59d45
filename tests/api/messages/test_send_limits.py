"""Sending limits: requests under other spellings of a mailbox never use up the quota of its verified account."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.contract.messages.models import MailKind
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from tests.support.accounts.account_states import OPEN_LIMITS
from tests.support.accounts.mailbox import mails_to, sent_messages
from tests.support.accounts.registering import ADA, primary, register
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import Visitor

AUTH = "/identity/v2/auth"
Make = Callable[..., TenantServer]


@pytest.fixture
def make(new_tenant_server: NewTenantServer) -> Make:
    def make_tenant(**settings: Any) -> TenantServer:
        return new_tenant_server(limits=OPEN_LIMITS, email_login=True, username_login=True, **settings)

    return make_tenant


def spelling(number: int) -> str:
    return f"ada+{number}@example.test"


def forgot(acme: TenantServer, email: str) -> TestResponse:
    return acme.send("POST", f"{AUTH}/password", {"email": email}, with_secret=False)


def mail_count(acme: TenantServer, to: str = ADA) -> int:
    return len(mails_to(acme.services, acme.tenant_id, to))


def subject_count(acme: TenantServer, to: str, part: str) -> int:
    return sum(part in mail["subject"] for mail in mails_to(acme.services, acme.tenant_id, to))


@pytest.mark.parametrize("is_hidden", [True, False])
def test_unknown_spellings_leave_reset_quota(make: Make, is_hidden: bool, hub_app: Flask) -> None:
    acme = make(hide_unknown_accounts=is_hidden)
    acme.create(Email=primary(ADA), EmailVerified=True)
    for number in range(4):
        page = Visitor(PlainClient(hub_app), acme.services.settings.hub_url(acme.name)).open("/forgot-password")
        page.press("Send reset link", identifier=spelling(number))
        forgot(acme, spelling(number))
    answered(forgot(acme, ADA))
    assert mail_count(acme) == 1


def test_unverified_accounts_leave_reset_quota(make: Make) -> None:
    """The quota of unverified accounts is separate from the quota of a verified address."""
    acme = make(sending={"mails_in_all": {"amount": 6, "minutes": 1440}})
    acme.create(Email=primary(ADA), EmailVerified=True)
    for number in range(8):
        register(acme, spelling(number))
        forgot(acme, spelling(number))
    answered(forgot(acme, ADA))
    assert mail_count(acme) == 1
    assert len(sent_messages(acme.services, acme.tenant_id)) == 6 + 1


@pytest.mark.parametrize("is_hidden", [True, False])
def test_unverified_accounts_leave_registration_quota(make: Make, is_hidden: bool) -> None:
    acme = make(hide_unknown_accounts=is_hidden, sending={"mails_in_all": {"amount": 6, "minutes": 1440}})
    for number in range(8):
        register(acme, spelling(number))
    answered(register(acme, ADA))
    assert mail_count(acme) == 1
    assert len(sent_messages(acme.services, acme.tenant_id)) == 6 + 1


def test_account_gets_three_resets_a_day_over_all_names(make: Make) -> None:
    acme = make()
    acme.create(Email=primary("Ada+shop@example.test"), UserName="ada", EmailVerified=True)
    for body in ({"email": "ada+SHOP@example.test"}, {"username": "ada"}, {"email": "ada+shop@example.test"}):
        answered(acme.send("POST", f"{AUTH}/password", body, with_secret=False))
    assert refused(forgot(acme, "ada+shop@example.test")) == (403, 1122)


@pytest.mark.parametrize("is_taken", [True, False])
def test_verification_quota_hides_taken_addresses(make: Make, is_taken: bool) -> None:
    """The limit is five an hour; a notice to the owner of a taken address counts for the account that requested it."""
    acme = make(hide_unknown_accounts=True)
    if is_taken:
        acme.create(Email=primary(ADA), EmailVerified=True)
    eve = acme.create(Email=primary("eve@evil.test"), EmailVerified=True)
    bearer = str(acme.tokens(eve["Uid"])["access_token"])
    for number in range(6):
        address = ADA if number == 5 else f"free{number}@example.test"
        answer = acme.send("POST", f"{AUTH}/email", {"email": address, "type": "Secondary"}, bearer=bearer)
        assert answer.status_code == (200 if number < 5 else 403)


def test_unverified_accounts_leave_notice_quota(make: Make) -> None:
    acme = make()
    ada = acme.create(Email=primary(ADA), UserName="ada", EmailVerified=True)
    for number in range(2):
        eve = acme.create(Email=primary(spelling(number)), UserName=f"eve{number}")
        for attempt in range(4):
            acme.update(eve["Uid"], {"UserName": f"eve{number}{attempt}"})
    acme.update(ada["Uid"], {"UserName": "stolen"})
    assert subject_count(acme, ADA, "username was changed") == 1


def test_security_alerts_respect_quota_of_unverified_mailbox(make: Make) -> None:
    acme = make(sending={"mails_in_all": {"amount": 4, "minutes": 1440}})
    ada = acme.create(Email=primary(ADA), EmailVerified=True)
    for number in range(3):
        eve = acme.create(Email=primary(spelling(number)))
        for attempt in range(3):
            acme.update(eve["Uid"], {"Password": f"Racing-tortoise-{number}{attempt}"})
    for attempt in range(5):
        acme.update(ada["Uid"], {"Password": f"Quartz-lantern-{attempt}"})
    assert len(sent_messages(acme.services, acme.tenant_id)) == 4 + 5
    assert mail_count(acme) == 5


def test_removed_address_is_notified_as_verified(make: Make) -> None:
    acme = make(sending={"mails_in_all": {"amount": 1, "minutes": 1440}})
    both = [*primary(ADA), {"Type": "Secondary", "Value": "countess@example.test"}]
    ada = acme.create(Email=both, EmailVerified=True)
    with call_of(acme.services, acme.name) as call:
        messaging.mail(call, MailKind.ADD_EMAIL, ADA, account=None, facts=MessageFacts(url="https://x.test/"))
        call.work.commit()
    before = mail_count(acme)
    bearer = str(acme.tokens(ada["Uid"])["access_token"])
    answer = acme.send("DELETE", f"{AUTH}/email", {"email": ADA}, bearer=bearer)
    assert (answer.status_code, mail_count(acme) - before) == (200, 1), answer.text
