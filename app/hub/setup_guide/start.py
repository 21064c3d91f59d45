"""The page that a set-up link opens. Looking at it spends nothing: a person presses the button."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from flask import Response

from app.contract import errors
from app.contract.organizations import setup_operations
from app.contract.organizations.setup_operations import SetupLinkState
from app.hub.forms.code import ButtonForm
from app.hub.rendering.formatting import short_day
from app.hub.rendering.page import Page
from app.hub.setup_guide import guide
from app.hub.web.cookies import set_cookie
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit

_MAX_TOKEN: Final = 100
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
OVER: Final = "over"


@dataclass(frozen=True)
class SetupLinkPage(Page):
    """Says what the guide does, and opens it; or why the link opens nothing."""

    template = "pages/organizations/setup/start.html"
    own_rules = ("guide",)
    query = {setup_operations.TOKEN: _MAX_TOKEN}

    form: ButtonForm
    state: str
    """As `SetupLinkState.state`, or `over` for a browser without a session."""
    organization: str = ""
    day: str = ""
    token: str = ""
    renews: bool = False

    @property
    def action(self) -> str:
        return f"{guide.START}?{urlencode({setup_operations.TOKEN: self.token})}"

    @classmethod
    def samples(cls) -> Mapping[str, SetupLinkPage]:
        fresh = cls(ButtonForm(), "active", "Globex Gardens", short_day("2026-11-30T10:00:00+00:00"), "sample")
        states = ("used_up", "expired", "revoked", "completed", "unknown")
        closed = {state: replace(fresh, state=state) for state in states}
        renews = replace(fresh, renews=True)
        return {"fresh": fresh, **closed, "without a session": replace(fresh, state=OVER), "renewal": renews}


def show() -> Response:
    """Show the link's page; without a link go on in the guide, if the browser has a session."""
    if current_visit().query.get(setup_operations.TOKEN):
        return _page(ButtonForm(formdata=None)).render()
    try:
        return guide.go_on()
    except errors.SetupSessionOver:
        return SetupLinkPage(ButtonForm(formdata=None), OVER).render(403)


def submit() -> Response:
    """Open the link, and begin a session."""
    form = ButtonForm()
    if not form.validate():
        return _page(form).render(form.error_status)
    try:
        opened = api()(setup_operations.open_link, setup_operations.SetupToken(token=_token()))
    except errors.ClosedSetupLink:
        return _page(form).render(403)
    read = api()(setup_operations.read_guide, setup_operations.SetupSession(session=opened.session))
    response = guide.go_on(read)
    set_cookie(response, services().setup_cookie, opened.session, opened.lifetime_seconds)
    return response


def _token() -> str:
    """Return the link's token; empty for a text that is none."""
    text = current_visit().query.get(setup_operations.TOKEN, "")
    return text if _TOKEN.fullmatch(text) else ""


def _page(form: ButtonForm) -> SetupLinkPage:
    found: SetupLinkState = api()(setup_operations.look_up, setup_operations.SetupToken(token=_token()))
    return SetupLinkPage(form, found.state, found.organization, short_day(found.ends_at), _token(), found.renews)
