"""Sign out: asking first, and afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask_babel import lazy_gettext as _l

from app.hub.brand import initials
from app.hub.forms import HubForm
from app.hub.page import Notice, Page


class LogoutForm(HubForm):
    """Nothing but the wish; what an application asked with rides in `request`."""


@dataclass(frozen=True)
class LogoutPage(Page):
    """Sign out? An application alone cannot do it, nor can a link."""

    template = "pages/logout.html"

    form: LogoutForm
    account: str
    relying_party: str = ""
    request: str = ""
    """The application's own request, sealed, for the answer after the click."""

    @property
    def notice(self) -> Notice | None:
        if self.form.is_token_refused:
            return Notice(_l("Please press it once more"), _l("We could not be sure that it came from this page."), "note")
        return None

    @property
    def letters(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, LogoutPage]:
        return {
            "asked here": cls(LogoutForm(), "ada@example.com"),
            "asked by an application": cls(LogoutForm(), "ada@example.com", "Acme Shop"),
        }


@dataclass(frozen=True)
class SignedOutPage(Page):
    """You are signed out."""

    template = "pages/signed_out.html"
    scripts = ("language",)

    relying_party: str = ""
    home: str = ""
    """The way back to the application, where one is known."""

    @classmethod
    def samples(cls) -> Mapping[str, SignedOutPage]:
        return {"alone": cls(), "with a way back": cls("Acme Shop", "https://shop.example.com/")}
