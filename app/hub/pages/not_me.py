"""Where the mail about a changed password leads whoever did not change it. To look at the page ends nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from flask import Response, request

from app.contract import errors as e
from app.contract import hub_recovery as contract
from app.contract.hub import Step
from app.hub import journey
from app.hub.forms.base import HubForm
from app.hub.page import Page
from app.hub.pages import pages
from app.hub.pages.forgot import CLOSED
from app.hub.parts import mailed_link
from app.hub.services import api

ADDRESS: Final = "/not-me"


class AlarmForm(HubForm):
    """Nothing but the click."""


class AlarmState(StrEnum):
    """Where the link stands."""

    OPEN = "open"
    OWN = "own"
    USED = "used"
    EXPIRED = "expired"
    MOVED = "moved"
    CLOSED = "closed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class NotMePage(Page):
    """Was it somebody else?"""

    template = "pages/not_me.html"
    query = mailed_link.QUERY

    form: AlarmForm
    state: AlarmState
    account: str = ""
    token: str = ""

    @property
    def address(self) -> str:
        return mailed_link.form_address(ADDRESS, self.token)

    @classmethod
    def samples(cls) -> Mapping[str, NotMePage]:
        return {state.value: cls(AlarmForm(), state, "ada@example.com", "a-token") for state in AlarmState}


@pages.get(ADDRESS)
def show_not_me() -> Response:
    return _shown(AlarmForm(), 200)


@pages.post(ADDRESS)
def submit_not_me() -> Response:
    form = AlarmForm()
    if not form.validate():
        return _shown(form, form.error_status)
    try:
        if request.form.get("do") == "own":
            link = api()(contract.own_doing, contract.AlarmRequest(token=mailed_link.link_token()))
            return NotMePage(AlarmForm(formdata=None), AlarmState.OWN, link.label, mailed_link.link_token()).render()
        step = api()(contract.alarm, contract.AlarmRequest(token=mailed_link.link_token()))
        return journey.follow(step, **({CLOSED: "1"} if step.step is Step.RESET_SENT else {}))
    except (e.UsedLink, e.ExpiredLink, e.UnknownLink, e.AccountBlocked) as refusal:
        return _shown(AlarmForm(formdata=None), refusal.status)


def _shown(form: AlarmForm, status: int) -> Response:
    link = api()(contract.read_alarm, mailed_link.link_read(mailed_link.link_token()))
    return NotMePage(form, AlarmState(link.state), link.label, mailed_link.link_token()).render(status)
