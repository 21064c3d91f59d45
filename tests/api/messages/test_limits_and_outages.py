"""Mails and text messages: their language, their limits, and delivery after an outage of the mail server."""

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from app.contract import errors
from app.contract.auth import AuthScheme
from app.contract.messages.models import MailKind, Sending, SmsKind
from app.identity.assembly.worker import Worker
from app.identity.directory.accounts import accounts
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.platform.locations import Place
from app.identity.platform.outbox import claims
from app.kit.clock import FixedClock
from tests.support.accounts.mailbox import sent_messages as queued
from tests.support.fakes.smtp_server import mailbox
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer

RESET = MessageFacts(url="https://acme.example.com/auth.aspx?vtype=reset&vtoken=t0ken", otp="482913", minutes=1440)


def send(tenant: TenantServer, kind: MailKind, to: str = "ada@example.test", **facts: Any) -> None:
    with call_of(tenant.services, tenant.name) as call:
        messaging.mail(call, kind, to, account=None, facts=MessageFacts(**facts) if facts else RESET)
        call.work.commit()


def test_mail_is_queued_in_locale_of_account(acme: TenantServer) -> None:
    uid = acme.create(FirstName="Ada", LocalLanguage="de-AT")["Uid"]
    with call_of(acme.services, acme.name) as call:
        messaging.mail(call, MailKind.RESET, "ada@example.test", account=accounts.require(call, uid), facts=RESET)
        call.work.commit()
    (mail,) = queued(acme.services, acme.tenant_id)
    assert (mail["language"], mail["sender_name"]) == ("de", acme.name.title())
    assert "zurücksetzen" in mail["subject"]
    assert "482913" in mail["html"]


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


class Berlin:
    """Locations that place every address in Berlin."""

    def place_of(self, address: str) -> Place:
        return Place("Berlin", "Germany")


@pytest.mark.parametrize(
    ("agent", "is_verified", "origin"),
    [
        (FIREFOX, True, "Requested from Firefox on Linux near Berlin, "),
        (FIREFOX, False, "Requested from Firefox on Linux, "),  # a mistyped address must not learn the place
        ("Call 0800 555 now/1 (X11; Linux)", True, ""),
        ("", True, ""),
    ],
)
def test_mail_names_who_asked(acme: TenantServer, agent: str, is_verified: bool, origin: str) -> None:
    email = [{"Type": "Primary", "Value": "ada@example.test"}]
    uid = acme.create(Email=email, EmailVerified=is_verified)["Uid"]
    with call_of(acme.services, acme.name) as call:
        call.services = copy.copy(call.services)
        call.services.locations = Berlin()
        call.raw = replace(call.raw, headers={"user-agent": agent})
        account = accounts.require(call, uid)
        messaging.mail(call, MailKind.RESET, "ada@example.test", account=account, facts=RESET)
        call.work.commit()
    text = queued(acme.services, acme.tenant_id)[-1]["text"]
    assert origin in text
    assert ("Requested" in text) == bool(origin)
    assert "0800" not in text


def test_recipient_limit_ignores_letter_case(acme: TenantServer) -> None:
    for _ in range(3):
        send(acme, MailKind.RESET)
    with pytest.raises(errors.MailLimitReached):
        send(acme, MailKind.RESET, "ADA@example.test")
    send(acme, MailKind.RESET, "grace@example.test")
    send(acme, MailKind.VERIFICATION)


def test_known_and_unknown_addresses_share_one_limit(acme: TenantServer) -> None:
    for kind in (MailKind.VERIFICATION, MailKind.ACCOUNT_EXISTS) * 2:
        send(acme, kind)
    send(acme, MailKind.VERIFICATION)
    with pytest.raises(errors.MailLimitReached):
        send(acme, MailKind.ACCOUNT_EXISTS)


def test_notice_over_limit_is_dropped_without_error(acme: TenantServer) -> None:
    for _ in range(7):
        send(acme, MailKind.PASSWORD_CHANGED)
    assert len(queued(acme.services, acme.tenant_id)) == 5


@pytest.mark.both_databases
def test_mail_limit_holds_under_concurrency(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(sending={"mails_by_type": {"registration": {"amount": 4, "minutes": 60}}})

    def send_mail(_: int) -> bool:
        try:
            send(tenant, MailKind.VERIFICATION)
        except errors.MailLimitReached:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(send_mail, range(30))) == 4
    assert len(queued(tenant.services, tenant.tenant_id)) == 4


def send_text(tenant: TenantServer, kind: SmsKind = SmsKind.VERIFICATION) -> str:
    with call_of(tenant.services, tenant.name) as call:
        sid = messaging.sms(call, kind, "+4930123456", account=None, facts=MessageFacts(otp="482913", minutes=5))
        call.work.commit()
        return sid


def test_text_message_has_sid_and_is_limited(acme: TenantServer) -> None:
    sids = [send_text(acme) for _ in range(5)]
    with pytest.raises(errors.SmsLimitReached):
        send_text(acme)
    assert [message["sid"] for message in queued(acme.services, acme.tenant_id, "sms")] == sids
    assert all(len(sid) == 34 and sid.startswith("SM") for sid in sids)


def test_text_messages_per_ip_address_are_limited(acme: TenantServer) -> None:
    def send_sms(number: int, *schemes: AuthScheme) -> None:
        with call_of(acme.services, acme.name) as call:
            call.schemes = frozenset(schemes)
            messaging.sms(
                call, SmsKind.VERIFICATION, f"+49301234{number:03}", account=None, facts=MessageFacts(otp="482913")
            )

    for number in range(20):
        send_sms(number)
    with pytest.raises(errors.SmsLimitReached):
        send_sms(20)
    send_sms(21, AuthScheme.API_SECRET)  # a caller with the API secret is not limited


def test_daily_sms_limit_has_a_default() -> None:
    assert Sending().sms_per_day > 0


def test_daily_sms_limit_of_tenant_holds(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(sending={"sms_per_day": 2})
    send_text(tenant), send_text(tenant)
    with pytest.raises(errors.SharedSmsLimitReached):
        send_text(tenant)


def test_text_message_without_gateway_is_refused(acme: TenantServer) -> None:
    with call_of(acme.services, acme.name) as call:
        call.services = replace_settings(call.services, mail_url="smtp://mail.example.com")
        with pytest.raises(errors.NoSmsConfiguration):
            messaging.sms(call, SmsKind.RESET, "+4930123456", account=None, facts=MessageFacts(otp="482913"))


def replace_settings(services: Any, **changed: str) -> Any:
    other = copy.copy(services)
    other.settings = replace(services.settings, **changed)
    return other


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_every_mail_arrives_once_after_outage(acme: TenantServer) -> None:
    for number in range(5):
        send(acme, MailKind.VERIFICATION, f"{acme.name}-{number}@example.test")
    clock = FixedClock(acme.services.clock.now())
    with mailbox() as server:
        port = server.port
    facts: dict[str, Any] = {"hub_domain": "id.example.com", "mail_from": "door@id.example.com"}
    settings = replace(acme.services.settings, mail_url=f"smtp://127.0.0.1:{port}", **facts)
    worker = Worker(settings, acme.services.database, clock)
    while worker.deliver_due():
        pass
    pending = [
        row for row in claims.list_messages(acme.services.database, "waiting") if row.tenant_id == acme.tenant_id
    ]
    assert {(row.attempts, "refused" in row.last_problem) for row in pending} == {(1, True)}
    with mailbox() as server:
        settings = replace(settings, mail_url=f"smtp://127.0.0.1:{server.port}")
        clock.advance(seconds=60)
        worker = Worker(settings, acme.services.database, clock)
        while worker.deliver_due():
            pass
        mine = [mail for mail in server.mails if str(mail["To"]).startswith(acme.name)]
        assert sorted(mail["To"] for mail in mine) == [f"{acme.name}-{number}@example.test" for number in range(5)]
        assert mine[0]["Auto-Submitted"] == "auto-generated"
        assert [part.get_content_type() for part in mine[0].iter_parts()] == ["text/plain", "text/html"]
