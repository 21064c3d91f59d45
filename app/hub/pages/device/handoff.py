"""Device handoff: a program on another device gets the finished sign-in only after an explicit approval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract.federation.pages import connection_pages
from app.contract.page_models import InteractionDecision
from app.contract.steps import ApproveProgramStep
from app.hub import journey
from app.hub.components.signed_in_account import account_in_interaction, account_of
from app.hub.forms.code import ButtonForm
from app.hub.pages import pages
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.web.services import api
from app.hub.web.visit import current_visit

PATH: Final = "/sign-in/elsewhere"


@dataclass(frozen=True)
class DeviceHandoffPage(Page):
    """Asks whether the sign-in was started on another device."""

    template = "pages/device/handoff.html"
    required_blocks = frozenset({"lead"})
    query = {**Page.query, "said": 4, journey.EARLIER: 1}

    form: ButtonForm
    decision: str = ""
    """`done` or `no` once answered, else empty."""
    is_earlier: bool = False
    """Whether the person answered in an earlier request."""

    account: str = ""
    """The label of the account."""

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, DeviceHandoffPage]:
        return {
            "asked": cls(ButtonForm(), account="ada@example.com"),
            "yes": cls(ButtonForm(), "done"),
            "no": cls(ButtonForm(), "no"),
            "yes, earlier": cls(ButtonForm(), "done", is_earlier=True),
            "no, earlier": cls(ButtonForm(), "no", is_earlier=True),
            "token": cls(ButtonForm().with_token_error()),
        }


@pages.get(PATH)
def show_device_handoff() -> Response:
    decision = current_visit().query.get("said", "")
    if decision in ("done", "no"):
        return DeviceHandoffPage(ButtonForm(), decision, journey.EARLIER in current_visit().query).render()
    journey.require_interaction()
    journey.refuse_expired_interaction()
    response = journey.present_step()
    if isinstance(response.step, ApproveProgramStep) and response.step.outcome is not None:
        return journey.follow(response)
    return DeviceHandoffPage(ButtonForm(), account=account_of(response.step)).render()


@pages.post(PATH)
def submit_device_handoff() -> Response:
    interaction, form = journey.require_interaction(), ButtonForm()
    if not form.validate():
        return DeviceHandoffPage(form, account=account_in_interaction()).render(form.error_status)
    is_allowed = current_visit().form.get("do") == "yes"
    return journey.follow(
        api()(connection_pages.decide_handoff, InteractionDecision(interaction_id=interaction.id, allow=is_allowed))
    )
