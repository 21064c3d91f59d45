"""Security alert links ("this was not me"). A GET changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from flask import Response

from app.contract import errors
from app.contract.page_models import LinkToken
from app.contract.recovery import recovery_pages
from app.contract.steps import ResetSentStep
from app.hub import journey
from app.hub.components import mailed_link
from app.hub.forms.code import CLOSED
from app.hub.pages import pages
from app.hub.rendering.form import HubForm
from app.hub.web.services import api
from app.hub.web.visit import current_visit

PATH: Final = "/not-me"


class AlertForm(HubForm):
    """A button."""


class AlertState(StrEnum):
    """The state of an alert link."""

    OPEN = "open"
    OWN = "own"
    USED = "used"
    EXPIRED = "expired"
    MOVED = "moved"
    CLOSED = "closed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class SecurityAlertPage(mailed_link.LinkPage):
    """Ask whether someone else changed the account."""

    template = "pages/security/alert_link.html"
    required_blocks = frozenset({"lead"})
    path = PATH
    query = mailed_link.QUERY

    form: AlertForm
    state: AlertState

    @classmethod
    def samples(cls) -> Mapping[str, SecurityAlertPage]:
        return {state.value: cls(AlertForm(), state, "ada@example.com", "a-token") for state in AlertState}


@pages.get(PATH)
def show_security_alert() -> Response:
    return _render(AlertForm(), 200)


@pages.post(PATH)
def submit_security_alert() -> Response:
    form = AlertForm()
    if not form.validate():
        return _render(form, form.error_status)
    try:
        if current_visit().form.get("do") == "own":
            link = api()(recovery_pages.confirm_change, LinkToken(token=mailed_link.link_token()))
            return SecurityAlertPage(
                AlertForm(formdata=None), AlertState.OWN, link.label, mailed_link.link_token()
            ).render()
        response = api()(recovery_pages.revert_change, LinkToken(token=mailed_link.link_token()))
        return journey.follow(response, **({CLOSED: "1"} if isinstance(response.step, ResetSentStep) else {}))
    except (errors.UsedLink, errors.ExpiredLink, errors.UnknownLink, errors.AccountBlocked) as refusal:
        return _render(AlertForm(formdata=None), refusal.status)


def _render(form: AlertForm, status: int) -> Response:
    link = api()(recovery_pages.read_security_alert, mailed_link.link_read(mailed_link.link_token()))
    return SecurityAlertPage(form, AlertState(link.state), link.label, mailed_link.link_token()).render(status)
