"""Device handoff: a program on another device gets the finished sign-in only after an explicit approval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response, request

from app.contract import hub_connections as contract
from app.contract.hub_models import InteractionDecision
from app.hub import journey
from app.hub.forms.code import ButtonForm
from app.hub.page import Page
from app.hub.pages import pages
from app.hub.services import api

ADDRESS: Final = "/sign-in/elsewhere"


@dataclass(frozen=True)
class DeviceHandoffPage(Page):
    """Asks whether the sign-in was started on another device."""

    template = "pages/device_handoff.html"
    query = {**Page.query, "said": 4}

    form: ButtonForm
    decision: str = ""
    """`done` or `no` once answered, else empty."""

    @classmethod
    def samples(cls) -> Mapping[str, DeviceHandoffPage]:
        return {
            "asked": cls(ButtonForm()),
            "yes": cls(ButtonForm(), "done"),
            "no": cls(ButtonForm(), "no"),
            "token": cls(ButtonForm().with_token_error()),
        }


@pages.get(ADDRESS)
def show_device_handoff() -> Response:
    decision = request.args.get("said", "")
    if decision not in ("done", "no"):
        journey.require_interaction()
        journey.refuse_expired_interaction()
    return DeviceHandoffPage(ButtonForm(), decision).render()


@pages.post(ADDRESS)
def submit_device_handoff() -> Response:
    interaction, form = journey.require_interaction(), ButtonForm()
    if not form.validate():
        return DeviceHandoffPage(form).render(form.error_status)
    is_allowed = request.form.get("do") == "yes"
    return journey.follow(api()(contract.decide_handoff, InteractionDecision(attempt=interaction.id, allow=is_allowed)))
