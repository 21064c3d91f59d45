"""PIN reset by a mailed link, for tenants without a reset page of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response

from app.contract import errors
from app.contract.pins import pin_pages
from app.contract.pins.settings import Pins
from app.hub.components import mailed_link
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.forms.pin import PinForm, pin_hint
from app.hub.pages import pages
from app.hub.rendering.page import Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit, interaction_url
from app.kit.operations.errors import ApiError

PATH: Final = "/reset-pin"
OPEN, DONE = "open", "done"


@dataclass(frozen=True)
class ResetPinPage(mailed_link.LinkPage):
    """Asks for a new PIN, or shows why the link is refused."""

    template = "pages/recovery/reset_pin.html"
    path = PATH
    scripts = (*Page.scripts, "reveal")
    refusals = CHANGE_REFUSALS

    form: PinForm
    rule: Any = ""

    @property
    def new_link_url(self) -> str:
        """The address of the page that sends a new link."""
        return interaction_url("/forgot-pin")

    @classmethod
    def samples(cls) -> Mapping[str, ResetPinPage]:
        rule, refused = pin_hint(Pins()), PinForm(data={"pin": "1234"})
        refused.add_refusal(errors.BadParameter())
        return {
            "fresh": cls(PinForm(), OPEN, "ada@example.com", "a-token", rule),
            "refused": cls(refused, OPEN, "ada@example.com", "a-token", rule),
            **{state: cls(PinForm(), state, token="a-token") for state in (DONE, "used", "expired", "unknown")},
        }


@pages.get(PATH)
def show_reset_pin() -> Response:
    token = mailed_link.link_token()
    if current_visit().query.get(DONE) == "1":
        return ResetPinPage(PinForm(formdata=None), DONE).render()
    if not token:
        return redirect_to("/forgot-pin")
    return _page(PinForm(), token).render()


@pages.post(PATH)
def submit_reset_pin() -> Response:
    form, token = PinForm(), mailed_link.link_token()
    if not form.validate():
        return _page(form, token).render(form.error_status)
    try:
        api()(pin_pages.reset, pin_pages.PinReset(token=token, pin=(form.pin.data or "")[:64]))
    except (errors.UsedLink, errors.ExpiredLink, errors.UnknownLink) as refusal:  # the page explains the link by itself
        return _page(form, token).render(refusal.status)
    except ApiError as refusal:
        return _page(form, token).render_refusal(refusal)
    return redirect_to(f"{PATH}?{DONE}=1")


def _page(form: PinForm, token: str) -> ResetPinPage:
    link = api()(pin_pages.read_link, mailed_link.link_read(token))
    rule = pin_hint(current_visit().tenant.pin)
    return ResetPinPage(form, link.state, link.label, token, rule)
