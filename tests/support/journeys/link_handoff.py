"""A page that waits for a mailed link, in one browser and in two."""

from __future__ import annotations

import re

from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.oauth.world import World
from tests.support.visitors.visitor import VisitedPage, Visitor

ADA, PASSWORD, NEW = "ada@example.com", "Amber-window-44", "Quartz-lantern-58"


STATES = {"verification": "/verify/waiting", "sign-in link": "/sign-in/waiting", "reset": "/forgot-password/waiting"}


class Journey:
    """A page that waits in one browser, and the link as another browser opens it."""

    def __init__(self, kind: str, world: World, visitor: Visitor) -> None:
        self.kind, self.world, self.visitor = kind, world, visitor
        start = visitor.authorize(world.application("shop", client_uri="https://shop.example/"))
        if kind == "verification":
            self.page = start.follow("Create account").press("Create account", email=ADA, password=PASSWORD)
        else:
            world.person(ADA)
            where = {"sign-in link": "/sign-in/mail", "reset": "/forgot-password"}[kind]
            page = visitor.open(f"{where}?attempt={start.query['attempt']}")
            self.page = page.press("Send reset link" if kind == "reset" else "Email me a link", identifier=ADA)

    @property
    def number(self) -> str:
        return str(re.findall(r"Enter this number there: (\d\d)", self.page.text)[0])

    @property
    def wrong(self) -> str:
        return "98" if self.number != "98" else "97"

    @property
    def link(self) -> str:
        return link_in(mails_to(self.world.services, self.world.tenant_id, ADA)[-1])

    @property
    def state(self) -> str:
        """Return what the page's script reads."""
        page = self.visitor.open(f"{STATES[self.kind]}?attempt={self.page.query['attempt']}")
        return page.html

    def use(self, browser: Visitor, number: str = "") -> VisitedPage:
        """Open the link in a browser, and use it up with or without the number."""
        page = browser.open(self.link)
        typed = {"number": number} if number else {}
        if self.kind == "verification":
            return page.press("Verify", **typed)
        if self.kind == "reset":
            return page.press("Save password", password=NEW, **typed)
        return page.press("Sign in to Firefox on Linux", **typed) if number else page.press("Sign in here")

    def continues(self) -> VisitedPage:
        """Press the button that the script presses, as a browser without scripts does."""
        return self.page.press("Continue", code="") if self.kind != "reset" else self._go()

    def _go(self) -> VisitedPage:
        fields = {**self.page.form("Resend email").fields, "do": "go"}
        return self.visitor.send("POST", self.page.address, fields)
