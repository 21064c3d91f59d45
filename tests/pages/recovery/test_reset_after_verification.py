"""An attacker registers a victim's address; the owner verifies it and resets later, which removes every attacker credential."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask

from tests.support.accounts.customers import PATH
from tests.support.accounts.customers import UNLIMITED as NO_LIMITS
from tests.support.accounts.mailbox import code_in, link_in, mails_to, token_in
from tests.support.accounts.registering import UNLIMITED, register
from tests.support.tenants.tenant_server import MANAGE, PASSWORD, NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import Visitor

OWN, EMAIL, LOGIN = "/identity/v2/auth/account", "/identity/v2/auth/email", "/identity/v2/auth/login"
VICTIM, ATTACKER, PHONE, NEW = "vic9@corp.test", "thief@evil.test", "+4930123499", "Teapot-zebra-17"
QUESTIONS = {"pet": "First pet?"}


@dataclass
class Registered:
    """An account registered over the API with the victim's address, a phone number and security answers."""

    tenant: TenantServer
    hub: Flask

    def browser(self) -> Visitor:
        return Visitor(PlainClient(self.hub), self.tenant.services.settings.hub_url(self.tenant.name))

    def mail(self, to: str = VICTIM) -> dict[str, Any]:
        return mails_to(self.tenant.services, self.tenant.tenant_id, to)[-1]

    def verify(self, to: str = VICTIM) -> None:
        answered(self.tenant.send("GET", EMAIL, with_secret=False, verificationtoken=token_in(self.mail(to))))

    def reset(self, password: str = NEW, *, to: str = VICTIM, by_code: bool = False) -> None:
        answered(self.tenant.send("POST", PATH, {"email": to}, with_secret=False))
        credential = (
            {"email": to, "otp": code_in(self.mail(to))} if by_code else {"resettoken": token_in(self.mail(to))}
        )
        answered(self.tenant.send("PUT", PATH, {**credential, "password": password}, with_secret=False))

    def add_address(self, address: str, password: str) -> str:
        """Sign in, add and verify an address; return the access token."""
        body = {"email": VICTIM, "password": password}
        token = str(answered(self.tenant.send("POST", LOGIN, body, with_secret=False))["access_token"])
        answered(self.tenant.send("POST", EMAIL, {"email": address, "type": "Secondary"}, bearer=token))
        self.verify(address)
        return token

    def state(self) -> tuple[list[str], str | None, int]:
        """Return the addresses, the number, and the error code of a reset by security answers."""
        account = answered(self.tenant.send("GET", MANAGE, email=VICTIM))
        body = {"email": VICTIM, "password": "Cobalt-harbour-23", "securityanswer": {"pet": "wrong"}}
        answer = self.tenant.send("PUT", f"{PATH}/securityanswer", body, with_secret=False)
        return [item["Value"] for item in account["Email"]], account["PhoneId"], refused(answer)[1]


CLEAN_STATE, ORIGINAL_STATE = ([VICTIM], None, 1092), ([VICTIM], PHONE, 1093)


@pytest.fixture
def registered(new_tenant_server: NewTenantServer, hub_app: Flask) -> Registered:
    tenant = new_tenant_server(
        email_login=True, phone_login=True, security_questions=QUESTIONS, email_verification="required",
        reset_password_codes=True, limits={**UNLIMITED, **NO_LIMITS},
    )  # fmt: skip
    answered(register(tenant, VICTIM, PhoneId=PHONE, SecurityQuestionAnswer={"pet": "Rex"}))
    return Registered(tenant, hub_app)


@pytest.mark.parametrize("by_code", [False, True])
def test_reset_after_verification_removes_attacker_data(registered: Registered, by_code: bool) -> None:
    registered.verify()
    assert registered.state() == ORIGINAL_STATE, "the registrant may be the owner"
    bearer = registered.add_address(ATTACKER, PASSWORD)
    registered.reset(by_code=by_code)
    assert registered.state() == CLEAN_STATE
    assert refused(registered.tenant.send("GET", OWN, bearer=bearer)) == (401, 1409)
    assert refused(registered.tenant.send("POST", PATH, {"email": ATTACKER}, with_secret=False)) == (403, 938)


@pytest.mark.both_databases
def test_second_reset_keeps_the_owners_additions(registered: Registered) -> None:
    registered.verify()
    registered.reset()
    registered.add_address("second@corp.test", NEW)
    registered.reset("Velvet-anchor-65")
    assert registered.state()[0] == [VICTIM, "second@corp.test"]


def test_reset_by_later_address_removes_answers_only(registered: Registered) -> None:
    registered.verify()
    registered.add_address(ATTACKER, PASSWORD)
    registered.reset(to=ATTACKER)
    assert registered.state() == ([VICTIM, ATTACKER], PHONE, 1092)
    registered.reset("Velvet-anchor-65")
    assert registered.state() == CLEAN_STATE


def addresses_after_reset(registered: Registered, here: Visitor, other: Visitor) -> list[str]:
    """Register in one browser, confirm in another, add an address, reset; return the addresses that are left."""
    email = "ada@corp.test"
    page = here.open("/profile").follow("Create account")
    page.press("Create account", email=email, password=PASSWORD)
    parts = urlsplit(link_in(registered.mail(email)))
    other.open(f"{parts.path}?{parts.query}").press("Verify")
    body = {"email": email, "password": PASSWORD}
    token = str(answered(registered.tenant.send("POST", LOGIN, body, with_secret=False))["access_token"])
    more = {"email": "second@corp.test", "type": "Secondary"}
    answered(registered.tenant.send("POST", EMAIL, more, bearer=token))
    registered.verify("second@corp.test")
    registered.reset(to=email)
    return [item["Value"] for item in answered(registered.tenant.send("GET", MANAGE, email=email))["Email"]]


def test_verifying_in_registering_browser_keeps_all_data(registered: Registered) -> None:
    here = registered.browser()
    assert addresses_after_reset(registered, here, here) == ["ada@corp.test", "second@corp.test"]


def test_verifying_in_another_browser_removes_unverified_data(registered: Registered) -> None:
    assert addresses_after_reset(registered, registered.browser(), registered.browser()) == ["ada@corp.test"]
