"""`isvoiceotp`: senders with voice calls read the code out; other senders refuse the request with 1281."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.accounts import registering
from tests.support.accounts.customers import OLD
from tests.support.accounts.mailbox import code_in, sent_messages
from tests.support.operation_cases.cases import AccountHolder, Act, account_holder
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

PHONE_LOGIN = {"phone_login": True, "email_login": True}
OTHER = "+442079460999"
VOICE: dict[str, Any] = {"isvoiceotp": "true"}


def unverified(who: AccountHolder) -> AccountHolder:
    return who.update_account(PhoneIdVerified=False)


def register(who: AccountHolder) -> TestResponse:
    return registering.register(who.tenant, None, query=VOICE, PhoneId=OTHER)


REQUESTS: dict[str, Act] = {
    "U01": register,
    "U12": lambda who: unverified(who).call("U12", {"phone": who.phone, "password": OLD}, **VOICE),
    "U20": lambda who: who.own("U20", **VOICE),
    "U35": lambda who: who.call("U35", {"phone": who.phone}, **VOICE),
    "U62": lambda who: unverified(who).tenant.send(
        "POST", "/identity/v2/auth/phone/otp", {"phone": who.phone}, with_secret=False, **VOICE
    ),
    "U65": lambda who: who.tenant.send("PUT", "/identity/v2/auth/phone", {"phone": OTHER}, bearer=who.bearer, **VOICE),
}


@contextmanager
def sms_sender(who: AccountHolder, sms_url: str) -> Iterator[None]:
    """Send text messages through another sender for a while."""
    services = who.tenant.services
    saved, services.settings = services.settings, replace(services.settings, sms_url=sms_url)
    try:
        yield
    finally:
        services.settings = saved


def sent_texts(who: AccountHolder) -> list[dict[str, Any]]:
    return sent_messages(who.tenant.services, who.tenant.tenant_id, "sms")


@pytest.mark.parametrize("operation_id", REQUESTS)
@pytest.mark.parametrize("sms_url", ["inbox:", "twilio://AC1:x@127.0.0.1?from=%2B15550100&voice=%2B15550101"])
def test_voice_code_is_read_digit_by_digit(new_tenant_server: NewTenantServer, operation_id: str, sms_url: str) -> None:
    who = account_holder(new_tenant_server, **PHONE_LOGIN)
    with sms_sender(who, sms_url):
        REQUESTS[operation_id](who)
    message = sent_texts(who)[-1]
    digits = ", ".join(code_in(message))
    assert message["spoken"].count(f"{digits}.") == 2
    assert code_in(message) not in message["spoken"]
    assert "@" not in message["spoken"], "the line for the browser's autofill is not read out"
    assert message["language"] == "en"


@pytest.mark.parametrize("operation_id", REQUESTS)
@pytest.mark.parametrize("sms_url", ["https://gateway.example/send", "twilio://AC1:x@127.0.0.1?from=%2B15550100"])
def test_sender_without_voice_refuses_and_sends_nothing(
    new_tenant_server: NewTenantServer, operation_id: str, sms_url: str
) -> None:
    who = account_holder(new_tenant_server, **PHONE_LOGIN)
    with sms_sender(who, sms_url):
        assert refused(REQUESTS[operation_id](who)) == (403, 1281)
        assert sent_texts(who) == []


def test_unknown_number_gets_same_refusal(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **PHONE_LOGIN, hide_unknown_accounts=True)
    with sms_sender(who, "https://gateway.example/send"):
        known, unknown = (who.call("U35", {"phone": phone}, **VOICE) for phone in (who.phone, OTHER))
    assert refused(known) == refused(unknown) == (403, 1281)


def test_code_is_texted_without_voice_option(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **PHONE_LOGIN)
    answered(who.call("U35", {"phone": who.phone}, isvoiceotp="false"))
    assert "spoken" not in sent_texts(who)[-1]
