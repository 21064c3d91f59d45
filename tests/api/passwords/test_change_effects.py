"""Effects of each kind of password change: older links end, the owner is notified with a revert link, other sessions end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import read
from tests.support.accounts.customers import NEW, OLD, PATH, Customer, a_customer
from tests.support.accounts.mailbox import code_in, links_to, token_in
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import Visitor

OWN, DELETE = "/identity/v2/auth/account", "/identity/v2/auth/account/delete"
SETTINGS = {"phone_login": True, "security_questions": {"pet": "First pet?"}, "password_policy": {"expiry_days": 30}}


@dataclass
class PasswordChangeCase:
    """A customer with a session, a reset token, and a browser."""

    customer: Customer
    bearer: str
    token: str
    visitor: Visitor


def by_update(case: PasswordChangeCase) -> None:
    body = {"Password": NEW, "oldpassword": OLD}
    answered(case.customer.tenant.send("PUT", OWN, body, bearer=case.bearer))


def by_old_password(case: PasswordChangeCase) -> None:
    body = {"oldpassword": OLD, "newpassword": NEW}
    answered(case.customer.tenant.send("PUT", f"{PATH}/change", body, bearer=case.bearer))


def by_link(case: PasswordChangeCase) -> None:
    answered(case.customer.reset(resettoken=case.token, password=NEW))


def by_email_code(case: PasswordChangeCase) -> None:
    answered(case.customer.by_code(case.customer.code()))


def by_username_code(case: PasswordChangeCase) -> None:
    answered(case.customer.reset(username=case.customer.username, otp=case.customer.code(), password=NEW))


def by_text(case: PasswordChangeCase) -> None:
    answered(case.customer.ask("POST", {"phone": case.customer.phone}, path=f"{PATH}/otp"))
    answered(
        case.customer.ask(
            "PUT", {"phone": case.customer.phone, "otp": case.customer.texted(), "password": NEW}, path=f"{PATH}/otp"
        )
    )


def by_answer(case: PasswordChangeCase) -> None:
    body = {"email": case.customer.email, "password": NEW, "securityanswer": {"pet": "grey owl"}}
    answered(case.customer.ask("PUT", body, path=f"{PATH}/securityanswer"))


def by_uid(case: PasswordChangeCase) -> None:
    answered(case.customer.tenant.send("PUT", f"{MANAGE}/{case.customer.uid}/password", {"password": NEW}))


def by_server(name: str) -> Callable[[PasswordChangeCase], None]:
    def change(case: PasswordChangeCase) -> None:
        if name == "uid":
            case.customer.tenant.update(case.customer.uid, {"Password": NEW})
        else:
            named = {name: getattr(case.customer, name)}
            answered(case.customer.tenant.send("PUT", MANAGE, {"Password": NEW}, **named))

    return change


def by_file(case: PasswordChangeCase) -> None:
    """Apply a configuration file, which sets a password only where there is none."""
    case.customer.set_columns(password_hash=None)
    text = f"tenants: [{{name: {case.customer.tenant.name}, accounts: [{{email: {case.customer.email}, password: {NEW}}}]}}]"
    apply_configuration.apply(case.customer.tenant.services, read(text.encode(), "f.yaml", Path()))


def by_page_link(case: PasswordChangeCase) -> None:
    page = case.visitor.open(f"/reset-password?vtoken={case.token}")
    assert page.press("Save password", password=NEW).address.endswith("/profile?changed=password")


def by_page_code(case: PasswordChangeCase) -> None:
    sent = case.visitor.open("/login").follow("Forgot password?").press("Continue", identifier=case.customer.email)
    page = sent.press("Verify", code=code_in(case.customer.mails()[-1]))
    assert page.press("Save password", password=NEW).address.endswith("/profile?changed=password")


def by_page_change(case: PasswordChangeCase) -> None:
    case.visitor.open("/profile").press("Sign in", identifier=case.customer.email, password=OLD)
    page = case.visitor.open("/change-password")
    assert "changed" in page.press("Save password", old_password=OLD, new_password=NEW).text


def by_page_expired(case: PasswordChangeCase) -> None:
    case.customer.set_columns(password_changed_at=case.customer.tenant.services.clock.now() - timedelta(days=31))
    page = case.visitor.open("/profile").press("Sign in", identifier=case.customer.email, password=OLD)
    page.press("Save password", password=NEW)


CHANGES: Mapping[str, Callable[[PasswordChangeCase], None]] = {
    "U16 update": by_update,
    "U32 old password": by_old_password,
    "U34 link": by_link,
    "U34 code, email": by_email_code,
    "U34 code, username": by_username_code,
    "U36 text message": by_text,
    "U37 answers": by_answer,
    "A16": by_uid,
    "A05 uid": by_server("uid"),
    "A05 email": by_server("email"),
    "A05 username": by_server("username"),
    "A05 phone": by_server("phone"),
    "apply": by_file,
    "page, link": by_page_link,
    "page, code": by_page_code,
    "page, change": by_page_change,
    "page, too old": by_page_expired,
}


@pytest.fixture
def case(new_tenant_server: NewTenantServer, hub_app: Flask) -> PasswordChangeCase:
    customer = a_customer(new_tenant_server, **SETTINGS)
    bearer = str(answered(customer.logs_in())["access_token"])
    visitor = Visitor(PlainClient(hub_app), customer.tenant.services.settings.hub_url(customer.tenant.name))
    return PasswordChangeCase(customer, bearer, customer.token(), visitor)


@pytest.mark.both_databases
@pytest.mark.parametrize("name", CHANGES)
def test_password_change_ends_links_and_other_sessions(case: PasswordChangeCase, name: str) -> None:
    customer = case.customer
    other = str(customer.tenant.tokens(customer.uid)["access_token"])
    answered(customer.tenant.send("DELETE", OWN, bearer=other))
    deletion = token_in(customer.mails()[-1])
    CHANGES[name](case)
    answered(customer.logs_in(NEW))
    assert refused(customer.reset(resettoken=case.token, password="Amber-window-44"))[1] in (974, 975)
    assert refused(customer.tenant.send("GET", DELETE, with_secret=False, deletetoken=deletion)) == (403, 975)
    assert links_to(customer.mails()[-1], "/not-me")
    assert refused(customer.tenant.send("GET", OWN, bearer=other)) == (401, 1409)
