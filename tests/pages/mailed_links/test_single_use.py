"""One message signs in once, whichever way it is used: on our pages, at the interface, or by the page that waits for it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.identity.authentication.sign_in.tables import sessions
from app.identity.credentials.tokens.token_store import access_tokens
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.customers import UNLIMITED
from tests.support.accounts.mailbox import code_in, link_in, mails_to, token_of
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

ADA, NEW = "ada@example.com", "Quartz-lantern-58"
LESS = "/identity/v2/auth/login/passwordlesslogin/email"


class Mailed:
    """A mail with a link and a code for a page that waits in one browser, and every use of one of them."""

    def __init__(self, kind: str, world: World, api: Flask, new_visitor: Callable[[], Visitor]) -> None:
        self.kind, self.world, self._new_visitor = kind, world, new_visitor
        self.api = TenantServer(world.services, api, world.tenant_id, world.name, world.api_key, world.api_secret)
        if kind != "sign-up":
            world.person(ADA)
        start = new_visitor().open("/forgot-password" if kind == "reset" else "/sign-in/mail")
        self.page = start.press("Send reset link" if kind == "reset" else "Email me a link", identifier=ADA)
        mail = mails_to(world.services, world.tenant_id, ADA)[-1]
        self.link, self.code = link_in(mail), code_in(mail)

    @property
    def uses(self) -> dict[str, Callable[[], Any]]:
        return {
            "link of our page": self.by_link,
            "link of our page with the number": lambda: self.by_link(self.number),
            "code of our page": self.by_code,
            "link of the interface": self.by_interface_link,
            "code of the interface": self.by_interface_code,
        }

    @property
    def number(self) -> str:
        return self.page.text.partition("Enter this number there: ")[2][:2]

    def by_link(self, number: str = "") -> VisitedPage:
        """Open the link in another browser; with the number, the page that waits goes on there."""
        page, typed = self._new_visitor().open(self.link), {"number": number} if number else {}
        buttons = ("Sign in to Firefox on Linux" if number else "Sign in here", "Save password")
        button = next((item for item in buttons if f">{item}<" in page.html), "")
        if button == "Save password":
            typed["password"] = NEW
        used = page.press(button, **typed) if button else page
        if number:
            self.continues()
        return used

    def by_code(self) -> VisitedPage:
        page = self.page.press("Verify" if self.kind == "reset" else "Sign in", code=self.code)
        is_new_password = page.heading == "Choose a new password"
        return page.press("Save password", password=f"{NEW}-2") if is_new_password else page

    def by_interface_link(self) -> Any:
        token = token_of(self.link)
        if self.kind != "reset":
            return self.api.send("GET", f"{LESS}/verify", with_secret=False, verificationtoken=token)
        body = {"resettoken": token, "password": f"{NEW}-3"}
        return self.api.send("PUT", "/identity/v2/auth/password", body, with_secret=False)

    def by_interface_code(self) -> Any:
        if self.kind != "reset":
            return self.api.send("POST", f"{LESS}/verifyotp", {"email": ADA, "otp": self.code}, with_secret=False)
        body = {"email": ADA, "otp": self.code, "password": f"{NEW}-4"}
        return self.api.send("PUT", "/identity/v2/auth/password", body, with_secret=False)

    def continues(self) -> VisitedPage:
        """Press what the script of the waiting page presses."""
        if self.kind != "reset":
            return self.page.press("Continue", code="")
        fields = {**self.page.form("Resend email").fields, "do": "go"}
        return self.page.visitor.send("POST", self.page.address, fields)

    def sign_ins(self) -> int:
        """Return how many sessions of browsers and tokens of programs there have been."""
        work = UnitOfWork(self.world.services.database, self.world.tenant_id)
        try:
            requested = [(item, item.c.tenant_id == self.world.tenant_id) for item in (sessions, access_tokens)]
            return sum(len(work.all(select(table.c.uid).where(where))) for table, where in requested)
        finally:
            work.rollback()


NewMailed = Callable[[str], Mailed]


@pytest.fixture
def mailed(new_world: NewWorld, new_visitor_at: NewVisitorAt, identity_app: Flask) -> NewMailed:
    def make(kind: str) -> Mailed:
        world = new_world(
            passwordless_email=True, one_touch=True, reset_password_codes=True, login_on_password_reset=True,
            hide_unknown_accounts=True, limits=UNLIMITED, lockout={"type": "none"},
        )  # fmt: skip
        return Mailed(kind, world, identity_app, lambda: new_visitor_at(world))

    return make


@pytest.mark.parametrize("kind", ["sign-in", "sign-up", "reset"])
def test_message_signs_in_by_one_of_its_uses(kind: str, mailed: NewMailed, subtests: pytest.Subtests) -> None:
    for first, second in permutations(mailed(kind).uses, 2):
        with subtests.test(f"{first}, then {second}"):
            sent = mailed(kind)
            sent.uses[first]()
            assert sent.sign_ins() == 1
            sent.uses[second]()
            assert sent.sign_ins() == 1


def test_waiting_page_alone_continues_after_a_reset(mailed: NewMailed) -> None:
    """The browser that opened the link and typed the number has set the password for the page that waits."""
    sent = mailed("reset")
    used = sent.by_link(sent.number)
    assert not used.visitor.cookies("session")
    assert sent.page.visitor.cookies("session")
