"""However a password changes: older links are over, the owner is told with a way to object, and others are signed out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from werkzeug.test import Client

from app.identity.administration.configuration import apply as configuration
from app.identity.administration.configuration.reading import read
from tests.support.customers import NEW, OLD, PATH, Customer, a_customer
from tests.support.mailbox import code_in, link_in, token_in
from tests.support.tenant_server import MANAGE, NewTenantServer, answered, refused
from tests.support.visitor import Visitor

OWN, DELETE = "/identity/v2/auth/account", "/identity/v2/auth/account/delete"
SETTINGS = {"phone_login": True, "security_questions": {"pet": "First pet?"}, "password_policy": {"expiry_days": 30}}


@dataclass
class Case:
    """A customer, what the way may need, and a browser at the pages."""

    c: Customer
    bearer: str
    token: str
    visitor: Visitor


def by_update(case: Case) -> None:
    answered(case.c.tenant.send("PUT", OWN, {"Password": NEW}, bearer=case.bearer))


def by_old_password(case: Case) -> None:
    body = {"oldpassword": OLD, "newpassword": NEW}
    answered(case.c.tenant.send("PUT", f"{PATH}/change", body, bearer=case.bearer))


def by_link(case: Case) -> None:
    answered(case.c.reset(resettoken=case.token, password=NEW))


def by_email_code(case: Case) -> None:
    answered(case.c.by_code(case.c.code()))


def by_username_code(case: Case) -> None:
    answered(case.c.reset(username=case.c.username, otp=case.c.code(), password=NEW))


def by_text(case: Case) -> None:
    answered(case.c.ask("POST", {"phone": case.c.phone}, path=f"{PATH}/otp"))
    answered(case.c.ask("PUT", {"phone": case.c.phone, "otp": case.c.texted(), "password": NEW}, path=f"{PATH}/otp"))


def by_answer(case: Case) -> None:
    body = {"email": case.c.email, "password": NEW, "securityanswer": {"pet": "grey owl"}}
    answered(case.c.ask("PUT", body, path=f"{PATH}/securityanswer"))


def by_uid(case: Case) -> None:
    answered(case.c.tenant.send("PUT", f"{MANAGE}/{case.c.uid}/password", {"password": NEW}))


def by_server(name: str) -> Callable[[Case], None]:
    def way(case: Case) -> None:
        if name == "uid":
            case.c.tenant.update(case.c.uid, {"Password": NEW})
        else:
            named = {name: getattr(case.c, name)}
            answered(case.c.tenant.send("PUT", MANAGE, {"Password": NEW}, **named))

    return way


def by_file(case: Case) -> None:
    """A file gives a password only where there is none."""
    case.c.set_columns(password_hash=None)
    text = f"tenants: [{{name: {case.c.tenant.name}, accounts: [{{email: {case.c.email}, password: {NEW}}}]}}]"
    configuration.apply(case.c.tenant.services, read(text.encode(), "f.yaml", Path()))


def by_page_link(case: Case) -> None:
    page = case.visitor.open(f"/reset-password?vtoken={case.token}")
    assert "changed" in page.press("Save the new password", password=NEW).text


def by_page_code(case: Case) -> None:
    sent = case.visitor.open("/login").follow("Forgot it?").press("Send it", identifier=case.c.email)
    page = sent.press("Continue", code=code_in(case.c.mails()[-1]))
    assert "changed" in page.press("Save the new password", password=NEW).text


def by_page_change(case: Case) -> None:
    case.visitor.open("/profile").press("Sign in", identifier=case.c.email, password=OLD)
    page = case.visitor.open("/change-password")
    assert "changed" in page.press("Save the new password", old_password=OLD, new_password=NEW).text


def by_page_expired(case: Case) -> None:
    case.c.set_columns(password_changed_at=case.c.tenant.services.clock.now() - timedelta(days=31))
    page = case.visitor.open("/profile").press("Sign in", identifier=case.c.email, password=OLD)
    page.press("Save the new password", password=NEW)


WAYS: Mapping[str, Callable[[Case], None]] = {
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
def case(new_tenant_server: NewTenantServer, hub_app: Flask) -> Case:
    c = a_customer(new_tenant_server, **SETTINGS)
    bearer = str(answered(c.logs_in())["access_token"])
    visitor = Visitor(Client(hub_app), c.tenant.services.settings.hub_url(c.tenant.name))
    return Case(c, bearer, c.token(), visitor)


@pytest.mark.parametrize("name", WAYS)
def test_the_same_follows_whoever_sets_the_password(case: Case, name: str) -> None:
    c = case.c
    other = str(c.tenant.tokens(c.uid)["access_token"])
    answered(c.tenant.send("DELETE", OWN, bearer=other))
    deletion = token_in(c.mails()[-1])
    WAYS[name](case)
    answered(c.logs_in(NEW))
    assert refused(c.reset(resettoken=case.token, password="Amber-window-44"))[1] in (974, 975)
    assert refused(c.tenant.send("GET", DELETE, with_secret=False, deletetoken=deletion)) == (403, 975)
    assert "/not-me?" in link_in(c.mails()[-1])
    assert refused(c.tenant.send("GET", OWN, bearer=other)) == (401, 1409)
