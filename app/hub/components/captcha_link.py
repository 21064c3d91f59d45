"""Emails the link that solves the captcha of a form without scripts, and the page that says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract.captcha import captcha_pages
from app.contract.captcha.captcha_pages import CaptchaLinkView, PageUse
from app.contract.captcha.models import CaptchaUse
from app.hub.rendering.page import Page
from app.hub.web.services import api
from app.hub.web.visit import current_visit, interaction_url


@dataclass(frozen=True)
class CaptchaMailedPage(Page):
    """Says that an email was sent: to any address that registers, and to an account's address if there is one."""

    template = "components/captcha_mailed.html"

    identifier: str
    use: PageUse

    @property
    def back(self) -> str:
        """The address of the form."""
        return interaction_url("/login" if self.use is CaptchaUse.UNLOCK else "/register")

    @classmethod
    def samples(cls) -> Mapping[str, CaptchaMailedPage]:
        return {
            "for an account": cls("ada@example.com", CaptchaUse.UNLOCK),
            "to register": cls("ada@example.com", CaptchaUse.REGISTER),
        }


def mail_link(use: PageUse, identifier: str, typed: Mapping[str, str]) -> Response:
    """Email the link that continues a form; the response is the same whether or not the identifier has an account.

    Raises TooManyRequests, MalformedEmail, RegistrationOff.
    """
    request = captcha_pages.CaptchaLinkRequest(
        use=use, identifier=identifier.strip(), typed=dict(typed), interaction_id=current_visit().interaction_id
    )
    api()(captcha_pages.mail_link, request)
    return CaptchaMailedPage(identifier.strip(), use).render()


Continue = Callable[[CaptchaLinkView], Response]
_FORMS: Final[dict[CaptchaUse, Continue]] = {}


def continues(use: CaptchaUse) -> Callable[[Continue], Continue]:
    """Declare the function that shows the form of a use with what was typed, its captcha solved by the link (decorator)."""

    def declare(function: Continue) -> Continue:
        _FORMS[use] = function
        return function

    return declare


def continued_form(link: CaptchaLinkView) -> Response:
    """Return the form that a link continues."""
    return _FORMS[link.use](link)
