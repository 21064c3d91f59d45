"""A stranger registers somebody's address with ways in of their own; the owner confirms it, and resets later: nothing is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from werkzeug.test import Client

from tests.support.customers import PATH
from tests.support.customers import UNLIMITED as NO_LIMITS
from tests.support.mailbox import code_in, link_in, mails_to, token_in
from tests.support.registering import UNLIMITED, register
from tests.support.tenant_server import MANAGE, PASSWORD, NewTenantServer, TenantServer, answered, refused
from tests.support.visitor import Visitor

OWN, EMAIL, LOGIN = "/identity/v2/auth/account", "/identity/v2/auth/email", "/identity/v2/auth/login"
VICTIM, THIEF, PHONE, NEW = "vic9@corp.test", "thief@evil.test", "+4930123499", "Teapot-zebra-17"
QUESTIONS = {"pet": "First pet?"}


@dataclass
class Registered:
    """An account that somebody registered over the interface with the victim's address, a number and answers."""

    tenant: TenantServer
    hub: Flask

    def browser(self) -> Visitor:
        return Visitor(Client(self.hub), self.tenant.services.settings.hub_url(self.tenant.name))

    def mail(self, to: str = VICTIM) -> dict[str, Any]:
        return mails_to(self.tenant.services, self.tenant.tenant_id, to)[-1]

    def confirms(self, to: str = VICTIM) -> None:
        answered(self.tenant.send("GET", EMAIL, with_secret=False, verificationtoken=token_in(self.mail(to))))

    def resets(self, password: str = NEW, *, to: str = VICTIM, by_code: bool = False) -> None:
        answered(self.tenant.send("POST", PATH, {"email": to}, with_secret=False))
        shown = {"email": to, "otp": code_in(self.mail(to))} if by_code else {"resettoken": token_in(self.mail(to))}
        answered(self.tenant.send("PUT", PATH, {**shown, "password": password}, with_secret=False))

    def adds(self, address: str, password: str) -> str:
        """Sign in, add an address and prove it; returns the access token."""
        body = {"email": VICTIM, "password": password}
        token = str(answered(self.tenant.send("POST", LOGIN, body, with_secret=False))["access_token"])
        answered(self.tenant.send("POST", EMAIL, {"email": address, "type": "Secondary"}, bearer=token))
        self.confirms(address)
        return token

    def held(self) -> tuple[list[str], str | None, int]:
        """The addresses, the number, and what is answered to who resets by the answers that were registered."""
        account = answered(self.tenant.send("GET", MANAGE, email=VICTIM))
        body = {"email": VICTIM, "password": "Cobalt-harbour-23", "securityanswer": {"pet": "wrong"}}
        answer = self.tenant.send("PUT", f"{PATH}/securityanswer", body, with_secret=False)
        return [one["Value"] for one in account["Email"]], account["PhoneId"], refused(answer)[1]


CLEAN, KEPT = ([VICTIM], None, 1092), ([VICTIM], PHONE, 1093)


@pytest.fixture
def registered(new_tenant_server: NewTenantServer, hub_app: Flask) -> Registered:
    tenant = new_tenant_server(
        email_login=True, phone_login=True, security_questions=QUESTIONS, email_verification="required",
        reset_password_codes=True, limits={**UNLIMITED, **NO_LIMITS},
    )  # fmt: skip
    answered(register(tenant, VICTIM, PhoneId=PHONE, SecurityQuestionAnswer={"pet": "Rex"}))
    return Registered(tenant, hub_app)


@pytest.mark.parametrize("by_code", [False, True])
def test_who_confirms_first_and_resets_later_inherits_nothing(registered: Registered, by_code: bool) -> None:
    registered.confirms()
    assert registered.held() == KEPT, "whoever registered may be the owner, too"
    bearer = registered.adds(THIEF, PASSWORD)
    registered.resets(by_code=by_code)
    assert registered.held() == CLEAN
    assert refused(registered.tenant.send("GET", OWN, bearer=bearer)) == (401, 1409)
    assert refused(registered.tenant.send("POST", PATH, {"email": THIEF}, with_secret=False)) == (403, 938)


def test_a_second_reset_keeps_what_the_owner_added_since(registered: Registered) -> None:
    registered.confirms()
    registered.resets()
    registered.adds("second@corp.test", NEW)
    registered.resets("Velvet-anchor-65")
    assert registered.held()[0] == [VICTIM, "second@corp.test"]


def test_a_reset_through_an_address_that_came_later_takes_the_answers_alone(registered: Registered) -> None:
    registered.confirms()
    registered.adds(THIEF, PASSWORD)
    registered.resets(to=THIEF)
    assert registered.held() == ([VICTIM, THIEF], PHONE, 1092)
    registered.resets("Velvet-anchor-65")
    assert registered.held() == CLEAN


def on_the_page(registered: Registered, here: Visitor, elsewhere: Visitor) -> list[str]:
    """Register a second address in one browser, open its link in another; returns what is left after a reset."""
    email = "ada@corp.test"
    page = here.open("/profile").follow("Create an account")
    page.press("Create account", email=email, password=PASSWORD)
    parts = urlsplit(link_in(registered.mail(email)))
    elsewhere.open(f"{parts.path}?{parts.query}").press("Confirm")
    body = {"email": email, "password": PASSWORD}
    token = str(answered(registered.tenant.send("POST", LOGIN, body, with_secret=False))["access_token"])
    more = {"email": "second@corp.test", "type": "Secondary"}
    answered(registered.tenant.send("POST", EMAIL, more, bearer=token))
    registered.confirms("second@corp.test")
    registered.resets(to=email)
    return [one["Value"] for one in answered(registered.tenant.send("GET", MANAGE, email=email))["Email"]]


def test_who_showed_the_password_where_the_link_is_opened_keeps_everything(registered: Registered) -> None:
    here = registered.browser()
    assert on_the_page(registered, here, here) == ["ada@corp.test", "second@corp.test"]


def test_a_link_opened_elsewhere_does_not_join_the_two(registered: Registered) -> None:
    assert on_the_page(registered, registered.browser(), registered.browser()) == ["ada@corp.test"]
