"""Simulated people that press any button of any page they have seen, or follow any link."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urljoin

from tests.support.accounts.mailbox import code_in, links_in, sent_messages, token_of
from tests.support.oauth.world import World
from tests.support.visitors.visitor import Form, Forms, VisitedPage, Visitor

_LINK = re.compile(r'<a[^>]* href="([^"#][^"]*)"')
_MAIN = re.compile(r"<main.*?</main>", re.DOTALL)
_CHECKED = re.compile(r'<input[^>]*type="checkbox"[^>]*name="([^"]+)"')
ADDRESSES = ("email", "identifier", "username")
PASSWORDS = ("password", "new_password")
MAX_PAGES = 12


def main_of(page: VisitedPage) -> str:
    """Return the HTML of the page's main element."""
    found = _MAIN.search(page.html)
    return found.group(0) if found else page.html


def forms_of(page: VisitedPage) -> list[tuple[Form, str]]:
    """Return every form of a page with each of its buttons."""
    return [(form, button) for form in Forms(page.html).found for button in form.buttons]


def links_of(page: VisitedPage) -> list[str]:
    """Return every hub address that a page links to."""
    found = (urljoin(page.address, unescape(href)) for href in _LINK.findall(main_of(page)))
    return [item for item in found if item.startswith(page.visitor.home + "/")]


def leads_on(page: VisitedPage) -> bool:
    """Return whether the page has a link or a form."""
    middle = main_of(page)
    return bool(_LINK.search(middle)) or bool(Forms(middle).found)


@dataclass
class PressedButton:
    """A pressed button and the resulting page."""

    button: str
    sent: dict[str, str]
    page: VisitedPage
    after: VisitedPage

    @property
    def token(self) -> str:
        """The token of the mailed link whose page was used."""
        links = links_in(self.page.address)
        return self.sent.get("vtoken") or (token_of(links[0]) if links else "")


@dataclass
class AccountPerson:
    """A person with addresses, passwords and browsers."""

    world: World
    name: str
    addresses: Sequence[str]
    browsers: list[PageBrowser] = field(default_factory=list)
    passwords: list[str] = field(default_factory=list)
    registered_addresses: set[str] = field(default_factory=set)
    """The addresses that this person registered with; a person confirms no others."""

    def mails(self) -> list[dict[str, Any]]:
        """Return the mails to this person, oldest first, ignoring the case of addresses."""
        sent = sent_messages(self.world.services, self.world.tenant_id)
        return [mail for mail in sent if str(mail["to"]).lower() in self.addresses]

    def code(self) -> str:
        """Return the newest mailed code, or 000000."""
        for mail in reversed(self.mails()):
            try:
                return code_in(mail)
            except IndexError:
                continue
        return "000000"

    def new_password(self) -> str:
        self.passwords.append(f"Kettle-{self.name}-zebra-{len(self.passwords)}")
        return self.passwords[-1]


@dataclass
class PageBrowser:
    """A browser of a person with its pages, newest last; older ones are reached by Back."""

    owner: AccountPerson
    visitor: Visitor
    pages: list[VisitedPage] = field(default_factory=list)

    def saw(self, page: VisitedPage) -> VisitedPage:
        if page.answer is not None and page.answer.mimetype == "text/html":
            self.pages = [*self.pages, page][-MAX_PAGES:]
        return page

    def press(self, page: VisitedPage, form: Form, button: str, typed: dict[str, str]) -> PressedButton:
        """Fill in a form of any seen page and press one of its buttons."""
        name, value = form.buttons[button]
        known_fields = {known: text for known, text in typed.items() if known in form.fields}
        ticked = dict.fromkeys(_CHECKED.findall(page.html), "y")
        sent = {**ticked, **form.fields, **known_fields, **({name: value} if name else {})}
        after = self.visitor.send(
            form.method.upper(), urljoin(page.address, form.actions.get(button, form.action)), sent
        )
        return PressedButton(button, sent, page, self.saw(after))
