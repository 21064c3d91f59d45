"""A program on another device asks for the sign-in that was finished here: it gets in when the person says so, and not before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response, request

from app.contract import hub_connections as contract
from app.hub import journey
from app.hub.forms.code import ButtonForm
from app.hub.page import Page
from app.hub.pages import pages
from app.hub.services import api
from app.hub.visit import current_visit

ADDRESS: Final = "/sign-in/elsewhere"


@dataclass(frozen=True)
class ElsewherePage(Page):
    """Did you begin this on another device?"""

    template = "pages/elsewhere.html"
    query = {**Page.query, "said": 4}

    form: ButtonForm
    said: str = ""
    """`done` or `no`, once it is answered."""

    @classmethod
    def samples(cls) -> Mapping[str, ElsewherePage]:
        return {
            "asked": cls(ButtonForm()),
            "yes": cls(ButtonForm(), "done"),
            "no": cls(ButtonForm(), "no"),
            "token": cls(ButtonForm().with_token_error()),
        }


@pages.get(ADDRESS)
def show_elsewhere() -> Response:
    said = request.args.get("said", "")
    if said not in ("done", "no") and (current_visit().interaction is None or journey.is_interaction_gone()):
        return journey.start_again()
    return ElsewherePage(ButtonForm(), said).render()


@pages.post(ADDRESS)
def submit_elsewhere() -> Response:
    interaction, form = current_visit().interaction, ButtonForm()
    if interaction is None:
        return journey.start_again()
    if not form.validate():
        return ElsewherePage(form).render(form.error_status)
    allow = request.form.get("do") == "yes"
    return journey.follow(api()(contract.hand_over, contract.HandOver(attempt=interaction.id, allow=allow)))
