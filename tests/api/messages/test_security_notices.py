"""Security notices: each change of credentials or identifiers is mailed to the address that was primary before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.credentials import notifications
from app.identity.directory.accounts import account_store
from tests.support.accounts.mailbox import code_in, links_to, mails_to, sent_messages, token_in
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import Visitor

OWN, EMAIL, USERNAME = "/identity/v2/auth/account", "/identity/v2/auth/email", "/identity/v2/auth/username"
ADA, OTHER, PHONE = "ada@example.test", "countess@example.test", "+4930123456"
EMAIL_ADDED = "An email address was added to your"
EMAIL_REMOVED = "An email address was removed from your"
PRIMARY_CHANGED = "The primary email for your"
USERNAME_NOTICE = "username was changed"
PHONE_NOTICE = "A phone number was added to your"
PASSWORD_NOTICE = "password was changed"
NOTICES = (EMAIL_ADDED, EMAIL_REMOVED, PRIMARY_CHANGED, USERNAME_NOTICE, PHONE_NOTICE, PASSWORD_NOTICE)
KNOWN = {"oldpassword": PASSWORD}
ANSWERS_NOTICE, PET = "security answers were changed", {"SecurityQuestionAnswer": {"pet": "thief"}}


@dataclass
class NoticeCase:
    """Ada's account with two addresses, the tenant's server, and a browser."""

    tenant: TenantServer
    uid: str
    bearer: str
    visitor: Visitor

    def own(self, method: str, path: str, body: object) -> None:
        answered(self.tenant.send(method, path, body, bearer=self.bearer))

    def add_email(self, address: str) -> None:
        self.own("POST", EMAIL, {"email": address, "type": "Secondary"})
        token = token_in(mails_to(self.tenant.services, self.tenant.tenant_id, address)[-1])
        answered(self.tenant.send("GET", EMAIL, with_secret=False, verificationtoken=token))

    def add_phone(self, number: str) -> None:
        self.own("PUT", OWN, {"PhoneId": number})
        code = code_in(sent_messages(self.tenant.services, self.tenant.tenant_id, "sms")[-1])
        answered(self.tenant.send("PUT", "/identity/v2/auth/phone/otp", {}, bearer=self.bearer, otp=code))

    def notices(self) -> list[tuple[str, str, bool]]:
        """Return subject, recipient, and whether it has a link to revert, of each notice."""
        sent = sent_messages(self.tenant.services, self.tenant.tenant_id)
        return [
            (subject, str(message["to"]), bool(links_to(message["text"], "/not-me")))
            for message in sent
            for subject in (*NOTICES, ANSWERS_NOTICE)
            if subject in message["subject"]
        ]


def apply_account(members: str) -> Callable[[NoticeCase], None]:
    def change(case: NoticeCase) -> None:
        text = f"tenants: [{{name: {case.tenant.name}, accounts: [{{email: {ADA}, {members}}}]}}]"
        apply_configuration.apply(case.tenant.services, read(text.encode(), "f.yaml", Path()))

    return change


def change_email_on_page(action: str, confirm: str, address: str) -> Callable[[NoticeCase], None]:
    def change(case: NoticeCase) -> None:
        case.visitor.open("/profile").press("Sign in", identifier=ADA, password=PASSWORD)
        shown = "Remove" if action == "remove" else "Make primary"
        case.visitor.open("/emails").press(shown, address=address, action=action).press(confirm)

    return change


def answer_questions_on_page(case: NoticeCase) -> None:
    case.visitor.open("/profile").press("Sign in", identifier=ADA, password=PASSWORD)
    case.visitor.open("/security-questions").press("Save", answer_0="Grey Owl")


PRIMARY_REMOVED = [(EMAIL_REMOVED, ADA, True), (EMAIL_REMOVED, OTHER, False)]
OTHER_REMOVED = [(EMAIL_REMOVED, OTHER, False), (EMAIL_REMOVED, ADA, True)]
CHANGES: Mapping[str, tuple[Callable[[NoticeCase], None], list[tuple[str, str, bool]]]] = {
    "U23 adds": (lambda case: case.add_email("third@example.test"), [(EMAIL_ADDED, ADA, True)]),
    "U24 removes the first": (lambda case: case.own("DELETE", EMAIL, {"email": ADA}), PRIMARY_REMOVED),
    "U24 removes another": (lambda case: case.own("DELETE", EMAIL, {"email": OTHER}), OTHER_REMOVED),
    "page removes the first": (change_email_on_page("remove", "Remove", ADA), PRIMARY_REMOVED),
    "page makes another first": (
        change_email_on_page("primary", "Make primary", OTHER),
        [(PRIMARY_CHANGED, ADA, True)],
    ),
    "U16 username": (lambda case: case.own("PUT", OWN, {"UserName": "countess"}), [(USERNAME_NOTICE, ADA, False)]),
    "U22 username": (lambda case: case.own("PUT", USERNAME, {"username": "countess"}), [(USERNAME_NOTICE, ADA, False)]),
    "A05 username": (lambda case: update_by_server(case, {"UserName": "countess"}), [(USERNAME_NOTICE, ADA, False)]),
    "U16 phone": (lambda case: case.add_phone(PHONE), [(PHONE_NOTICE, ADA, True)]),
    "A05 phone": (lambda case: update_by_server(case, {"PhoneId": PHONE}), [(PHONE_NOTICE, ADA, True)]),
    "apply phone": (apply_account(f'phone: "{PHONE}"'), [(PHONE_NOTICE, ADA, True)]),
    "U16 answers": (
        lambda case: case.own("PUT", OWN, {"FirstName": "Ada", **KNOWN, **PET}),
        [(ANSWERS_NOTICE, ADA, True)],
    ),
    "U17 answers": (lambda case: case.own("PUT", OWN, {**KNOWN, **PET}), [(ANSWERS_NOTICE, ADA, True)]),
    "U16 password": (
        lambda case: case.own("PUT", OWN, {**KNOWN, "Password": "Quartz-lantern-58"}),
        [(PASSWORD_NOTICE, ADA, True)],
    ),
    "A05 answers": (lambda case: update_by_server(case, PET), [(ANSWERS_NOTICE, ADA, True)]),
    "page answers": (answer_questions_on_page, [(ANSWERS_NOTICE, ADA, True)]),
    "A05 password": (
        lambda case: update_by_server(case, {"Password": "Quartz-lantern-58"}),
        [(PASSWORD_NOTICE, ADA, True)],
    ),
}


def update_by_server(case: NoticeCase, body: dict[str, Any]) -> None:
    case.tenant.update(case.uid, body)


@pytest.fixture
def case(new_tenant_server: NewTenantServer, hub_app: Flask) -> NoticeCase:
    tenant = new_tenant_server(email_login=True, phone_login=True, security_questions={"pet": "Your first pet?"})
    made = tenant.create(Email=[{"Type": "Primary", "Value": ADA}], UserName="ada", EmailVerified=True)
    visitor = Visitor(PlainClient(hub_app), tenant.services.settings.hub_url(tenant.name))
    return NoticeCase(tenant, made["Uid"], str(tenant.tokens(made["Uid"])["access_token"]), visitor)


@pytest.mark.parametrize("name", CHANGES)
def test_change_is_mailed_to_former_primary_address(case: NoticeCase, name: str) -> None:
    change, expected = CHANGES[name]
    case.add_email(OTHER)
    before = case.notices()
    change(case)
    assert case.notices()[len(before) :] == expected


PINS = {"pin": {"hash": "hash", "sealed": "one"}}
VALUES: Mapping[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "phone added": ({}, {"phone": PHONE}, "A phone number was added to your {}"),
    "phone removed": ({"phone": PHONE}, {"phone": None}, "The phone number was removed from your {}"),
    "phone changed": ({"phone": PHONE}, {"phone": "+4930654321"}, "The phone number for your {}"),
    "PIN added": ({}, {"private": PINS}, "A PIN was added to your {}"),
    "PIN removed": ({"private": PINS}, {"private": {}}, "The PIN was removed from your {}"),
    "PIN changed": ({"private": PINS}, {"private": {"pin": {"sealed": "two"}}}, "Your {} PIN was changed"),
}


@pytest.mark.parametrize("name", VALUES)
def test_notice_names_what_happened_to_the_value(case: NoticeCase, name: str) -> None:
    stored, changed, subject = VALUES[name]
    with call_of(case.tenant.services, case.tenant.name) as context:
        account = account_store.by_uid(context, case.uid)
        assert account is not None
        before = replace(account, **stored)
        notifications.notify_profile_changes(context, before, replace(before, **changed))
        context.work.commit()
    newest = sent_messages(case.tenant.services, case.tenant.tenant_id)[-1]
    assert newest["subject"].startswith(subject.format(case.tenant.name.title()))
    assert ("then your PIN" in newest["text"]) == (name in ("PIN added", "PIN changed"))


def test_other_account_of_mailbox_does_not_exhaust_notice_limit(case: NoticeCase) -> None:
    """A plus address is the same mailbox; the limit of five notices an hour counts each account separately."""
    eve = case.tenant.create(Email=[{"Type": "Primary", "Value": "ada+eve@example.test"}])
    for number in range(6):
        case.tenant.update(eve["Uid"], {"Password": f"Racing-tortoise-{number}"})
    case.tenant.update(case.uid, {"Password": "Quartz-lantern-58"})
    assert (PASSWORD_NOTICE, ADA, True) in case.notices()
