"""Letters in the outbox and at a real mail server: in the right language, within the limits, after an outage too."""

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from app.contract import errors as e
from app.contract.auth import AuthScheme
from app.contract.messages import MailKind, Sending, SmsKind
from app.identity.directory.accounts import service as accounts
from app.identity.entry.worker import Worker
from app.identity.messaging import service as messaging
from app.identity.platform.outbox import claims
from app.kit.clock import FixedClock
from tests.support.callers import call_of
from tests.support.mailbox import sent_messages as posted
from tests.support.smtp_server import mailbox
from tests.support.tenant_server import NewTenantServer, TenantServer

RESET = {"url": "https://acme.example.com/auth.aspx?vtype=reset&vtoken=t0ken", "otp": "482913", "minutes": "1440"}


def send(tenant: TenantServer, kind: MailKind, to: str = "ada@example.test", **facts: str) -> None:
    with call_of(tenant.services, tenant.name) as call:
        messaging.mail(call, kind, to, account=None, facts=facts or RESET)
        call.work.commit()


def test_a_mail_is_posted_in_the_language_of_the_account(acme: TenantServer) -> None:
    uid = acme.create(FirstName="Ada", LocalLanguage="de-AT")["Uid"]
    with call_of(acme.services, acme.name) as call:
        messaging.mail(call, MailKind.RESET, "ada@example.test", account=accounts.require(call, uid), facts=RESET)
        call.work.commit()
    (mail,) = posted(acme.services, acme.tenant_id)
    assert (mail["language"], mail["sender_name"]) == ("de", acme.name.title())
    assert "Hallo Ada," in mail["text"]
    assert "482913" in mail["html"]


def test_a_recipient_gets_three_resets_a_day_in_either_case(acme: TenantServer) -> None:
    for _ in range(3):
        send(acme, MailKind.RESET)
    with pytest.raises(e.MailLimitReached):
        send(acme, MailKind.RESET, "ADA@example.test")
    send(acme, MailKind.RESET, "grace@example.test")
    send(acme, MailKind.VERIFICATION)


def test_known_and_unknown_addresses_share_one_limit(acme: TenantServer) -> None:
    for kind in (MailKind.VERIFICATION, MailKind.ACCOUNT_EXISTS) * 2:
        send(acme, kind)
    send(acme, MailKind.VERIFICATION)
    with pytest.raises(e.MailLimitReached):
        send(acme, MailKind.ACCOUNT_EXISTS)


def test_a_notice_over_the_limit_is_left_out_and_refuses_nothing(acme: TenantServer) -> None:
    for _ in range(7):
        send(acme, MailKind.PASSWORD_CHANGED)
    assert len(posted(acme.services, acme.tenant_id)) == 5


def test_limits_hold_under_concurrency(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(sending={"mails_by_type": {"registration": {"amount": 4, "minutes": 60}}})

    def one(_: int) -> bool:
        try:
            send(tenant, MailKind.VERIFICATION)
        except e.MailLimitReached:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(one, range(30))) == 4
    assert len(posted(tenant.services, tenant.tenant_id)) == 4


def text(tenant: TenantServer, kind: SmsKind = SmsKind.VERIFICATION) -> str:
    with call_of(tenant.services, tenant.name) as call:
        sid = messaging.sms(call, kind, "+4930123456", account=None, facts={"otp": "482913", "minutes": "5"})
        call.work.commit()
        return sid


def test_a_message_bears_its_sid_and_is_limited(acme: TenantServer) -> None:
    sids = [text(acme) for _ in range(5)]
    with pytest.raises(e.SmsLimitReached):
        text(acme)
    assert [message["sid"] for message in posted(acme.services, acme.tenant_id, "sms")] == sids
    assert all(len(sid) == 34 and sid.startswith("SM") for sid in sids)


def test_one_address_cannot_have_messages_sent_to_ever_new_numbers(acme: TenantServer) -> None:
    def one(number: int, *letters_shown: AuthScheme) -> None:
        with call_of(acme.services, acme.name) as call:
            call.schemes = frozenset(letters_shown)
            messaging.sms(call, SmsKind.VERIFICATION, f"+49301234{number:03}", account=None, facts={"otp": "482913"})

    for number in range(20):
        one(number)
    with pytest.raises(e.SmsLimitReached):
        one(20)
    one(21, AuthScheme.API_SECRET)  # a program that shows the secret asks for many people


def test_a_day_of_messages_ends_without_a_setting() -> None:
    assert Sending().sms_per_day > 0


def test_a_tenant_s_day_of_messages_ends(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(sending={"sms_per_day": 2})
    text(tenant), text(tenant)
    with pytest.raises(e.SharedSmsLimitReached):
        text(tenant)


def test_without_a_gateway_there_are_no_messages(acme: TenantServer) -> None:
    with call_of(acme.services, acme.name) as call:
        call.services = replace_settings(call.services, mail_url="smtp://mail.example.com")
        with pytest.raises(e.NoSmsConfiguration):
            messaging.sms(call, SmsKind.RESET, "+4930123456", account=None, facts={"otp": "482913"})


def replace_settings(services: object, **changed: str) -> object:
    other = copy.copy(services)
    other.settings = replace(services.settings, **changed)  # type: ignore[attr-defined]  # a house
    return other


@pytest.mark.database_alone
def test_after_an_outage_every_mail_arrives_once(acme: TenantServer) -> None:
    for number in range(5):
        send(acme, MailKind.VERIFICATION, f"{acme.name}-{number}@example.test")
    clock = FixedClock(acme.services.clock.now())
    with mailbox() as server:
        port = server.port
    facts = {"hub_domain": "id.example.com", "mail_from": "door@id.example.com"}
    settings = replace(acme.services.settings, mail_url=f"smtp://127.0.0.1:{port}", **facts)
    at_work = Worker(settings, acme.services.database, clock)
    while at_work.deliver_due():
        pass
    waiting = [
        row for row in claims.list_messages(acme.services.database, "waiting") if row.tenant_id == acme.tenant_id
    ]
    assert {(row.attempts, "refused" in row.last_problem) for row in waiting} == {(1, True)}
    with mailbox() as server:
        settings = replace(settings, mail_url=f"smtp://127.0.0.1:{server.port}")
        clock.advance(seconds=60)
        at_work = Worker(settings, acme.services.database, clock)
        while at_work.deliver_due():
            pass
        mine = [mail for mail in server.mails if str(mail["To"]).startswith(acme.name)]
        assert sorted(mail["To"] for mail in mine) == [f"{acme.name}-{number}@example.test" for number in range(5)]
        assert mine[0]["Auto-Submitted"] == "auto-generated"
        assert [part.get_content_type() for part in mine[0].iter_parts()] == ["text/plain", "text/html"]
