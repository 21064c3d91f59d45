"""Whoever may be robbed is told: each change of what opens an account reaches the address that was first before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import Client

from app.identity.administration.configuration import apply as configuration
from app.identity.administration.configuration.reading import read
from tests.support.mailbox import mails_to, sent_messages, token_in
from tests.support.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered
from tests.support.visitor import Visitor

OWN, EMAIL, USERNAME = "/identity/v2/auth/account", "/identity/v2/auth/email", "/identity/v2/auth/username"
ADA, OTHER, PHONE = "ada@example.test", "countess@example.test", "+4930123456"
ADDRESSES, NAME, NUMBER, WORD = "The email addresses", "Your username", "The phone number", "Your password"
ANSWERS, PET = "The security answers", {"SecurityQuestionAnswer": {"pet": "thief"}}


@dataclass
class Case:
    """Ada's account with two addresses, the tenant's server, and a browser where she is signed in."""

    tenant: TenantServer
    uid: str
    bearer: str
    visitor: Visitor

    def own(self, method: str, path: str, body: object) -> None:
        answered(self.tenant.send(method, path, body, bearer=self.bearer))

    def adds(self, address: str) -> None:
        self.own("POST", EMAIL, {"email": address, "type": "Secondary"})
        token = token_in(mails_to(self.tenant.services, self.tenant.tenant_id, address)[-1])
        answered(self.tenant.send("GET", EMAIL, with_secret=False, verificationtoken=token))

    def told(self) -> list[tuple[str, str, bool]]:
        """What each notice is about, whom it reached, and whether it has a link to object."""
        sent = sent_messages(self.tenant.services, self.tenant.tenant_id)
        return [
            (about, str(one["to"]), "/not-me?" in one["text"])
            for one in sent
            for about in (ADDRESSES, NAME, NUMBER, WORD, ANSWERS)
            if one["subject"].startswith(about)
        ]


def by_file(stated: str) -> Callable[[Case], None]:
    def way(case: Case) -> None:
        text = f"tenants: [{{name: {case.tenant.name}, accounts: [{{email: {ADA}, {stated}}}]}}]"
        configuration.apply(case.tenant.services, read(text.encode(), "f.yaml", Path()))

    return way


def on_the_page(action: str, sure: str, address: str) -> Callable[[Case], None]:
    def way(case: Case) -> None:
        case.visitor.open("/profile").press("Sign in", identifier=ADA, password=PASSWORD)
        shown = "Remove" if action == "remove" else "Make main"
        case.visitor.open("/emails").press(shown, address=address, action=action).press(sure)

    return way


def answers_on_the_page(case: Case) -> None:
    case.visitor.open("/profile").press("Sign in", identifier=ADA, password=PASSWORD)
    case.visitor.open("/security-questions").press("Save", answer_0="Grey Owl")


FIRST_GONE = [(ADDRESSES, ADA, True), (ADDRESSES, OTHER, False)]
OTHER_GONE = [(ADDRESSES, OTHER, False), (ADDRESSES, ADA, True)]
WAYS: Mapping[str, tuple[Callable[[Case], None], list[tuple[str, str, bool]]]] = {
    "U23 adds": (lambda case: case.adds("third@example.test"), [(ADDRESSES, ADA, True)]),
    "U24 removes the first": (lambda case: case.own("DELETE", EMAIL, {"email": ADA}), FIRST_GONE),
    "U24 removes another": (lambda case: case.own("DELETE", EMAIL, {"email": OTHER}), OTHER_GONE),
    "page removes the first": (on_the_page("remove", "Yes, remove it", ADA), FIRST_GONE),
    "page makes another first": (on_the_page("primary", "Yes, make it the main one", OTHER), [(ADDRESSES, ADA, True)]),
    "U16 username": (lambda case: case.own("PUT", OWN, {"UserName": "countess"}), [(NAME, ADA, False)]),
    "U22 username": (lambda case: case.own("PUT", USERNAME, {"username": "countess"}), [(NAME, ADA, False)]),
    "A05 username": (lambda case: _server(case, {"UserName": "countess"}), [(NAME, ADA, False)]),
    "U16 phone": (lambda case: case.own("PUT", OWN, {"PhoneId": PHONE}), [(NUMBER, ADA, False)]),
    "A05 phone": (lambda case: _server(case, {"PhoneId": PHONE}), [(NUMBER, ADA, False)]),
    "apply phone": (by_file(f'phone: "{PHONE}"'), [(NUMBER, ADA, False)]),
    "U16 answers": (lambda case: case.own("PUT", OWN, {"FirstName": "Ada", **PET}), [(ANSWERS, ADA, True)]),
    "U17 answers": (lambda case: case.own("PUT", OWN, PET), [(ANSWERS, ADA, True)]),
    "A05 answers": (lambda case: _server(case, PET), [(ANSWERS, ADA, True)]),
    "page answers": (answers_on_the_page, [(ANSWERS, ADA, True)]),
    "A05 password": (lambda case: _server(case, {"Password": "Quartz-lantern-58"}), [(WORD, ADA, True)]),
}


def _server(case: Case, body: dict[str, Any]) -> None:
    case.tenant.update(case.uid, body)


@pytest.fixture
def case(new_tenant_server: NewTenantServer, hub_app: Flask) -> Case:
    tenant = new_tenant_server(email_login=True, phone_login=True, security_questions={"pet": "Your first pet?"})
    made = tenant.create(Email=[{"Type": "Primary", "Value": ADA}], UserName="ada", EmailVerified=True)
    visitor = Visitor(Client(hub_app), tenant.services.settings.hub_url(tenant.name))
    return Case(tenant, made["Uid"], str(tenant.tokens(made["Uid"])["access_token"]), visitor)


@pytest.mark.parametrize("name", WAYS)
def test_the_address_that_was_first_is_told(case: Case, name: str) -> None:
    way, expected = WAYS[name]
    case.adds(OTHER)
    before = case.told()
    way(case)
    assert case.told()[len(before) :] == expected


def test_another_account_that_names_the_mailbox_does_not_use_the_limit_up(case: Case) -> None:
    """A plus makes no new mailbox, and five mails an hour are the most; the owner's own alarms count by themselves."""
    eve = case.tenant.create(Email=[{"Type": "Primary", "Value": "ada+eve@example.test"}])
    for number in range(6):
        case.tenant.update(eve["Uid"], {"Password": f"Racing-tortoise-{number}"})
    case.tenant.update(case.uid, {"Password": "Quartz-lantern-58"})
    assert (WORD, ADA, True) in case.told()
