"""The form that an emailed link continues after its captcha could not be solved without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Response

from app.contract import errors
from app.contract.captcha import captcha_pages
from app.contract.captcha.models import CaptchaUse
from app.hub import journey
from app.hub.components import mailed_link
from app.hub.components.captcha_link import continued_form, continues
from app.hub.pages import pages
from app.hub.pages.sign_in.login.current_page import login_page, new_login_form
from app.hub.rendering.page import Page
from app.hub.web.services import api
from app.hub.web.visit import interaction_url

PATH = "/human"


@dataclass(frozen=True)
class CaptchaLinkRefusedPage(Page):
    """Says that a link was used, expired or is incomplete."""

    template = "pages/sign_in/captcha_link.html"
    query = {**Page.query, **mailed_link.QUERY}

    state: str

    @property
    def back(self) -> str:
        """The address where the visitor starts again."""
        return interaction_url("/login")

    @classmethod
    def samples(cls) -> Mapping[str, CaptchaLinkRefusedPage]:
        return {state: cls(state) for state in _STATES.values()}


@pages.get(PATH)
def show_captcha_link() -> Response:
    """Show the form with what was typed, its captcha solved. A GET does not use the link up; sending the form does."""
    journey.refuse_expired_interaction()
    try:
        link = api()(captcha_pages.read_link, mailed_link.link_read(mailed_link.link_token()))
    except tuple(_STATES) as refusal:
        return CaptchaLinkRefusedPage(_STATES[type(refusal)]).render(refusal.status)
    return continued_form(link)


@continues(CaptchaUse.UNLOCK)
def continue_sign_in(link: captcha_pages.CaptchaLinkView) -> Response:
    kept = {"remember": bool(link.typed.get("remember")), "direct": link.typed.get("direct", "")}
    form = new_login_form(identifier=link.identifier, **kept)
    form.captcha.prompt(link.captcha)
    return login_page(form).render()


_STATES: dict[type[errors.UsedLink | errors.ExpiredLink | errors.UnknownLink], str] = {
    errors.UsedLink: "used",
    errors.ExpiredLink: "expired",
    errors.UnknownLink: "unknown",
}
