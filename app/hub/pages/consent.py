"""Consent: what an application may do with the account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask_babel import lazy_gettext as _l

from app.hub.brand import initials
from app.hub.forms import HubForm
from app.hub.page import Notice, Page


class ConsentForm(HubForm):
    """Two buttons of one name, `decision`: `allow` and `deny`."""


@dataclass(frozen=True)
class Scope:
    """Something an application asks for."""

    name: str
    description: str = ""
    """The tenant's own words for it, if it has any."""

    @property
    def words(self) -> Any:
        """What it means for the person who is asked."""
        return self.description or _WORDS.get(self.name, self.name)


_WORDS: Final = {
    "openid": _l("Know that it is you"),
    "profile": _l("See your name, picture and language"),
    "email": _l("See your email address"),
    "phone": _l("See your phone number"),
    "address": _l("See your postal address"),
    "offline_access": _l("Keep access while you are away"),
}


@dataclass(frozen=True)
class ConsentPage(Page):
    """Allow or deny."""

    template = "pages/consent.html"

    form: ConsentForm
    relying_party: str
    account: str
    """How the account is named on the page."""
    scopes: tuple[Scope, ...]
    logo: str = ""
    home: str = ""
    """The host of the application, so that nobody lends its name alone to another."""

    @property
    def notice(self) -> Notice | None:
        if self.form.is_token_refused:
            return Notice(_l("Please choose once more"), _l("We could not be sure that it came from this page."), "note")
        return None

    @property
    def letters(self) -> str:
        return initials(self.account)

    @property
    def relying_party_letters(self) -> str:
        return initials(self.relying_party)

    @classmethod
    def samples(cls) -> Mapping[str, ConsentPage]:
        usual = tuple(Scope(name) for name in ("openid", "profile", "email"))
        special = (*usual, Scope("offline_access"), Scope("orders", "See what you ordered in the last 12 months"))
        return {
            "usual": cls(ConsentForm(), "Acme Shop", "ada@example.com", usual, home="shop.example.com"),
            "with scopes of its own": cls(ConsentForm(), "Acme Shop", "ada@example.com", special),
        }
