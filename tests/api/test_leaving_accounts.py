"""An account on its way out: what each operation of user.md sections 3 and 4 answers, to whoever still holds a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from werkzeug.test import Client

from tests.support.customers import NEW, OLD, PATH, Customer, a_customer
from tests.support.mailbox import code_in, link_in, token_in
from tests.support.tenant_server import MANAGE, NewTenantServer, answered, refused
from tests.support.visitor import VisitedPage, Visitor

OWN, EMAIL, LOGIN = "/identity/v2/auth/account", "/identity/v2/auth/email", "/identity/v2/auth/login"
OTHER, MINE = "countess@example.test", "Amber-window-44"
BY_SESSION: Mapping[str, tuple[str, str, Any]] = {
    "U15": ("GET", OWN, None),
    "U16": ("PUT", OWN, {"Password": NEW}),
    "U17": ("PUT", OWN, {"securityquestionanswer": {"pet": "x"}}),
    "U18": ("DELETE", OWN, None),
    "U20": ("GET", f"{OWN}/otp", None),
    "U21": ("POST", f"{OWN}/delete", {"otp": "123456"}),
    "U22": ("PUT", "/identity/v2/auth/username", {"username": "countess"}),
    "U23": ("POST", EMAIL, {"email": "third@example.test", "type": "Secondary"}),
    "U24": ("DELETE", EMAIL, {"email": OTHER}),
    "U25": ("PUT", f"{OWN}/unlock", {"securityanswer": {"pet": "x"}}),
    "U26": ("GET", f"{OWN}/sendwelcomeemail", None),
    "U27": ("GET", "/identity/v2/auth/privacypolicy/accept", None),
    "U28": ("GET", "/identity/v2/auth/privacypolicy/history", None),
    "U32": ("PUT", f"{PATH}/change", {"oldpassword": OLD, "newpassword": NEW}),
}


@dataclass
class Leaving:
    """A customer whose account leaves, and what was held or sent before."""

    c: Customer
    hub: Flask
    bearer: str
    refresh: str
    link: str
    code: str
    added: str
    deletion: str

    def browser(self) -> Visitor:
        return Visitor(Client(self.hub), self.c.tenant.services.settings.hub_url(self.c.tenant.name))

    def signs_in(self, password: str = OLD) -> VisitedPage:
        return self.browser().open("/profile").press("Sign in", identifier=self.c.email, password=password)


@pytest.fixture
def leaving(new_tenant_server: NewTenantServer, hub_app: Flask) -> Leaving:
    c = a_customer(new_tenant_server, security_questions={"pet": "First pet?"}, phone_login=True)
    held = answered(c.logs_in())
    bearer = str(held["access_token"])
    answered(c.tenant.send("POST", EMAIL, {"email": OTHER, "type": "Secondary"}, bearer=bearer))
    from_other = Customer(c.tenant, c.uid, OTHER, c.username)
    added = token_in(from_other.mails()[-1])
    reset = c.mail()
    answered(c.tenant.send("DELETE", OWN, bearer=bearer))
    deletion = token_in(c.mails()[-1])
    answered(c.tenant.send("GET", f"{OWN}/delete", with_secret=False, deletetoken=deletion))
    return Leaving(c, hub_app, bearer, held["refresh_token"], token_in(reset), code_in(reset), added, deletion)


def test_a_session_from_before_opens_nothing(leaving: Leaving) -> None:
    tenant = leaving.c.tenant
    answers = {
        row: refused(tenant.send(method, path, body, bearer=leaving.bearer))
        for row, (method, path, body) in BY_SESSION.items()
    }
    assert answers == dict.fromkeys(BY_SESSION, (401, 1409))
    refreshed = tenant.send("GET", f"{MANAGE}/access_token/refresh", refresh_token=leaving.refresh)
    assert refused(refreshed) == (403, 1217)
    assert refused(tenant.send("GET", f"{MANAGE}/access_token", uid=leaving.c.uid)) == (403, 991)


def test_nothing_that_was_sent_before_opens_it(leaving: Leaving) -> None:
    c = leaving.c
    new, number = {"password": NEW}, {"phone": c.phone}
    assert refused(c.tenant.send("GET", f"{OWN}/delete", with_secret=False, deletetoken=leaving.deletion)) == (403, 974)
    assert refused(c.tenant.send("GET", EMAIL, with_secret=False, verificationtoken=leaving.added)) == (403, 975)
    asked = {
        "login": c.logs_in(),
        "U33": c.forgot(),
        "U34 code": c.by_code(leaving.code),
        "U34 username": c.reset(username=c.username, otp=leaving.code, **new),
        "U35": c.ask("POST", number, path=f"{PATH}/otp"),
        "U36": c.ask("PUT", {**number, **new, "otp": "123456"}, path=f"{PATH}/otp"),
        "U37": c.ask(
            "PUT", {"email": c.email, **new, "securityanswer": {"pet": "grey owl"}}, path=f"{PATH}/securityanswer"
        ),
    }
    assert {row: refused(answer) for row, answer in asked.items()} == dict.fromkeys(asked, (403, 991))
    assert refused(c.reset(resettoken=leaving.link, **new)) == (403, 975)
    mails = len(c.mails())
    sent = leaving.browser().open("/login").follow("Forgot it?").press("Send it", identifier=c.email)
    assert (sent.heading, len(c.mails())) == ("Check your mail", mails)


def test_only_the_password_or_an_alarm_keeps_it(leaving: Leaving) -> None:
    """Somebody who holds the session, and neither of these, keeps nothing: not with another's token, nor with an old one."""
    clock = leaving.c.tenant.services.clock
    assert "being deleted" not in leaving.signs_in("wrong").text
    offered = leaving.signs_in()
    assert offered.heading == "This account is being deleted"
    text = offered.form("Keep my account").fields["keep"]
    for forged in ("", "x", text[:-4], text.swapcase()):
        offered.press("Keep my account", keep=forged)
        assert leaving.c.tenant.read(leaving.c.uid)["IsDeleted"] is True
    clock.advance(minutes=11)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    offered.press("Keep my account")
    assert leaving.c.tenant.read(leaving.c.uid)["IsDeleted"] is True
    leaving.signs_in().press("Keep my account")
    assert leaving.c.tenant.read(leaving.c.uid)["IsDeleted"] is False


def stolen(new_tenant_server: NewTenantServer) -> tuple[Customer, str]:
    """A customer whose password was changed, and whose account then was deleted; and the address of the alarm."""
    c = a_customer(new_tenant_server)
    bearer = answered(c.logs_in())["access_token"]
    answered(c.tenant.send("PUT", f"{PATH}/change", {"oldpassword": OLD, "newpassword": NEW}, bearer=bearer))
    parts = urlsplit(link_in(next(one for one in c.mails() if "/not-me?" in str(one["text"]))))
    answered(c.tenant.send("DELETE", OWN, bearer=bearer))
    answered(c.tenant.send("GET", f"{OWN}/delete", with_secret=False, deletetoken=token_in(c.mails()[-1])))
    return c, f"{parts.path}?{parts.query}"


def test_an_alarm_keeps_what_a_thief_deletes(new_tenant_server: NewTenantServer, hub_app: Flask) -> None:
    c, alarm = stolen(new_tenant_server)
    owner = Visitor(Client(hub_app), c.tenant.services.settings.hub_url(c.tenant.name))
    assert owner.open(alarm).press("It was not me: close the account to others").heading == "Check your mail"
    page = owner.open(f"/reset-password?vtoken={token_in(c.mails()[-1])}")
    assert "Your password is changed" in page.press("Save the new password", password=MINE).text
    assert c.tenant.read(c.uid)["IsDeleted"] is False
    answered(c.logs_in(MINE))


@pytest.mark.parametrize("closed", [{"IsActive": False}, {"IsDeleted": True}])
def test_an_alarm_opens_nothing_that_the_tenant_closed(
    new_tenant_server: NewTenantServer, hub_app: Flask, closed: dict[str, bool]
) -> None:
    c, alarm = stolen(new_tenant_server)
    c.tenant.update(c.uid, {"IsDeleted": False})
    c.tenant.update(c.uid, closed)
    owner = Visitor(Client(hub_app), c.tenant.services.settings.hub_url(c.tenant.name))
    assert owner.open(alarm).heading == "This account is closed"
    c.tenant.update(c.uid, {name: not value for name, value in closed.items()})
    asked = owner.open(alarm)
    c.tenant.update(c.uid, closed)
    assert asked.press("It was not me: close the account to others").heading == "This account is closed"
    c.tenant.update(c.uid, {name: not value for name, value in closed.items()})
    assert owner.open(alarm).heading == "Was it somebody else?", "the link stays good"
