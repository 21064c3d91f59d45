"""Reauthentication before a sensitive change: by the password here, else by a second factor or a new sign-in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from flask import Response

from app.contract import errors
from app.contract.accounts.pages import reauthentication_pages
from app.contract.accounts.pages.reauthentication_pages import RequiredReauthentication
from app.contract.page_models import NoParameters
from app.hub import journey, oidc_client
from app.hub.account_pages import is_landing
from app.hub.client.identity_client import SignInRequired
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm
from app.hub.pages import pages
from app.hub.rendering.page import Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/confirm"


@dataclass(frozen=True)
class ReauthenticationPage(Page):
    """Asks for the password again."""

    template = "pages/security/reauthenticate.html"
    scripts = (*Page.scripts, "reveal")
    query = {"next": 100}
    refusals = CHANGE_REFUSALS

    form: ReauthenticationForm
    landing: str = "/security"

    @property
    def address(self) -> str:
        """The form's action."""
        return f"{PATH}?{urlencode({'next': self.landing})}"

    @classmethod
    def samples(cls) -> Mapping[str, ReauthenticationPage]:
        common = {"account": "ada@example.com", "reauthentication": NEEDED}
        wrong = ReauthenticationForm(data={**common, "password": "x"})
        wrong.add_refusal(errors.WrongCurrentPassword())
        return {
            "fresh": cls(ReauthenticationForm(data=common)),
            "wrong password": cls(wrong),
            "locked": cls(ReauthenticationForm(data=common), page_notice=CHANGE_REFUSALS[errors.LockedForAWhile]),
        }


@pages.get(PATH)
def show_reauthentication() -> Response:
    landing = _landing()
    journey.refuse_expired_interaction()
    if not current_visit().session:
        return oidc_client.start_login(landing)
    if current_visit().query.get("anew"):
        return oidc_client.start_login(landing, reauthenticate=True)
    try:
        request_body = reauthentication_pages.ReauthenticationRequest(
            landing=landing, interaction_id=current_visit().interaction_id
        )
        view = api()(reauthentication_pages.begin_reauthentication, request_body)
    except SignInRequired:
        return oidc_client.start_login(landing)
    current_visit().use_account_language(view.person)
    if view.next is not None:
        return journey.follow(view.next)
    if view.reauthentication is RequiredReauthentication.NONE:
        return redirect_to(landing)
    if view.reauthentication is RequiredReauthentication.STRONGER:
        return oidc_client.start_login(landing, reauthenticate=True)
    return ReauthenticationPage(
        ReauthenticationForm(data={"reauthentication": NEEDED, "account": view.person.label}), landing
    ).render()


@pages.post(PATH)
def submit_reauthentication() -> Response:
    form, landing = ReauthenticationForm(), _landing()
    form.require_password()
    if not form.validate():
        return ReauthenticationPage(form, landing).render(form.error_status)
    try:
        api(form.current_password)(reauthentication_pages.reauthenticate, NoParameters())
    except SignInRequired:
        return oidc_client.start_login(landing)
    except ApiError as refusal:
        return ReauthenticationPage(form, landing).render_refusal(refusal)
    return redirect_to(landing)


def _landing() -> str:
    """Return the page to continue to: the requested one if it is our own, else /security."""
    requested = current_visit().query.get("next", "")
    return requested if is_landing(requested) else "/security"
