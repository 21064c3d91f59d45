"""Asks before a provider's answer replaces the browser's current account: any site can lead a browser to a provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract import errors
from app.contract.federation.pages import connection_pages
from app.contract.page_models import InteractionDecision
from app.contract.sessions.models import SwitchAccountStep
from app.hub import journey
from app.hub.components.restore_account import offer_restore
from app.hub.components.sign_in_refusals import reason_for
from app.hub.forms.code import ButtonForm
from app.hub.pages import pages
from app.hub.pages.sign_in.login.current_page import render_after_refusal
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/sign-in/switch-account"


@dataclass(frozen=True)
class SwitchAccountPage(Page):
    """Shows the current account, and offers to switch to the provider's or to stay."""

    template = "pages/sign_in/switch_account.html"
    required_blocks = frozenset({"lead"})

    form: ButtonForm
    account: str
    """The label of the current account."""
    other: str
    """The label of the account that the provider's answer signs in."""

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, SwitchAccountPage]:
        accounts = ("ada@example.com", "ada.king@globex.example")
        return {"asked": cls(ButtonForm(), *accounts), "token": cls(ButtonForm().with_token_error(), *accounts)}


@pages.get(PATH)
def show_switch_account() -> Response:
    journey.require_interaction()
    journey.refuse_expired_interaction()
    return _question(ButtonForm())


@pages.post(PATH)
def submit_switch_account() -> Response:
    interaction, form = journey.require_interaction(), ButtonForm()
    if not form.validate():
        return _question(form, form.error_status)
    decision = InteractionDecision(interaction_id=interaction.id, allow=current_visit().form.get("do") == "yes")
    try:
        return journey.follow(api()(connection_pages.decide_switch, decision))
    except errors.AccountLeaving as refusal:
        return offer_restore(refusal)
    except ApiError as refusal:
        return render_after_refusal(reason_for(refusal), status=refusal.status)


def _question(form: ButtonForm, status: int = 200) -> Response:
    response = journey.present_step()
    if not isinstance(response.step, SwitchAccountStep):
        return journey.follow(response)
    return SwitchAccountPage(form, response.step.current, response.step.other).render(status)
