"""`isvoiceotp`: a code is read out in a call where something calls, and refused (1281) where nothing does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support import registering
from tests.support.customers import OLD
from tests.support.mailbox import code_in, sent_messages
from tests.support.rows import AccountHolder, Act, account_holder
from tests.support.tenant_server import NewTenantServer, answered, refused

PHONE = {"phone_login": True, "email_login": True}
OTHER = "+442079460999"
VOICE = {"isvoiceotp": "true"}


def unproved(who: AccountHolder) -> AccountHolder:
    return who.becomes(PhoneIdVerified=False)


def register(who: AccountHolder) -> TestResponse:
    return registering.register(who.tenant, None, query=VOICE, PhoneId=OTHER)


ASKED: dict[str, Act] = {
    "U01": register,
    "U12": lambda who: unproved(who).call("U12", {"phone": who.phone, "password": OLD}, **VOICE),
    "U20": lambda who: who.own("U20", **VOICE),
    "U35": lambda who: who.call("U35", {"phone": who.phone}, **VOICE),
    "U62": lambda who: unproved(who).tenant.send(
        "POST", "/identity/v2/auth/phone/otp", {"phone": who.phone}, with_secret=False, **VOICE
    ),
    "U65": lambda who: who.tenant.send("PUT", "/identity/v2/auth/phone", {"phone": OTHER}, bearer=who.bearer, **VOICE),
}


@contextmanager
def through(who: AccountHolder, sms_url: str) -> Iterator[None]:
    """Text messages go another way for a while."""
    services = who.tenant.services
    kept, services.settings = services.settings, replace(services.settings, sms_url=sms_url)
    try:
        yield
    finally:
        services.settings = kept


def texts(who: AccountHolder) -> list[dict[str, Any]]:
    return sent_messages(who.tenant.services, who.tenant.tenant_id, "sms")


@pytest.mark.parametrize("row", ASKED)
@pytest.mark.parametrize("way", ["inbox:", "twilio://AC1:x@127.0.0.1?from=%2B15550100&voice=%2B15550101"])
def test_voice_code_is_read_digit_by_digit(new_tenant_server: NewTenantServer, row: str, way: str) -> None:
    who = account_holder(new_tenant_server, **PHONE)
    with through(who, way):
        ASKED[row](who)
    said = texts(who)[-1]
    digits = ", ".join(code_in(said))
    assert said["spoken"].count(f"{digits}.") == 2
    assert code_in(said) not in said["spoken"]
    assert "@" not in said["spoken"], "the line for browsers is not read out"
    assert said["language"] == "en"


@pytest.mark.parametrize("row", ASKED)
@pytest.mark.parametrize("way", ["https://gateway.example/send", "twilio://AC1:x@127.0.0.1?from=%2B15550100"])
def test_sender_without_voice_refuses_and_sends_nothing(new_tenant_server: NewTenantServer, row: str, way: str) -> None:
    who = account_holder(new_tenant_server, **PHONE)
    with through(who, way):
        assert refused(ASKED[row](who)) == (403, 1281)
        assert texts(who) == []


def test_unknown_number_gets_same_refusal(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **PHONE, hide_unknown_accounts=True)
    with through(who, "https://gateway.example/send"):
        known, unknown = (who.call("U35", {"phone": phone}, **VOICE) for phone in (who.phone, OTHER))
    assert refused(known) == refused(unknown) == (403, 1281)


def test_code_is_texted_without_voice_option(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **PHONE)
    answered(who.call("U35", {"phone": who.phone}, isvoiceotp="false"))
    assert "spoken" not in texts(who)[-1]
