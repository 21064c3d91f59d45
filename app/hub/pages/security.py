"""Security: where the account is signed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import Response, request
from flask_babel import format_timedelta
from flask_babel import lazy_gettext as _l
from wtforms import HiddenField

from app.contract import errors as e
from app.contract import hub as contract
from app.contract.hub import Step
from app.hub import callback, journey, visit
from app.hub.arrival import api, workings
from app.hub.forms import HubForm
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.pages.profile import read_own_profile


class EndSessionForm(HubForm):
    """Ends one session, or with `everywhere` all but this one."""

    session_id = HiddenField()
    everywhere = HiddenField()

    def to_request(self) -> contract.EndSessionRequest:
        if self.everywhere.data:
            return contract.EndSessionRequest(others=True)
        return contract.EndSessionRequest(id=self.session_id.data or "")


@dataclass(frozen=True)
class Session:
    """A browser in which the account is signed in."""

    id: str
    browser: Any
    """"Firefox on Windows", or what the browser calls itself."""
    place: str = ""
    """City and country, or the network address."""
    last_seen: Any = ""
    """How long ago, in words."""
    is_current: bool = False
    is_handheld: bool = False


@dataclass(frozen=True)
class SecurityPage(Page):
    """The sessions, each with a way to end it."""

    template = "pages/security.html"
    query = {"ended": 1, "saved": 1, "password": 8}

    form: EndSessionForm
    sessions: tuple[Session, ...]
    has_ended: bool = False
    """Whether the last click ended one or more."""
    is_saved: bool = False
    """Whether something else about the account's security was just changed."""
    has_new_password: bool = False
    """Whether the password was just changed."""
    has_questions: bool = False
    """Whether the tenant asks security questions."""

    @property
    def notice(self) -> Notice | None:
        if once_more := super().notice:
            return once_more
        if self.has_new_password:
            return Notice(_l("Your password is changed"), _l("Everywhere else you are signed out."), "ok")
        if self.is_saved:
            return Notice(_l("Saved"), tone="ok")
        if self.has_ended:
            return Notice(_l("Signed out there"), _l("To come back, one has to sign in again."), "ok")
        return None

    @property
    def has_others(self) -> bool:
        return len(self.sessions) > 1

    @classmethod
    def samples(cls) -> Mapping[str, SecurityPage]:
        here = Session("s1", _named("Firefox", "Linux"), "Berlin, Germany", _l("now"), is_current=True)
        others = (
            Session("s2", _named("Safari", "iPhone"), "Hamburg, Germany", "2 h", is_handheld=True),
            Session("s3", _named("Chrome", "Windows"), "203.0.113.77", "3 d"),
        )
        return {
            "three": cls(EndSessionForm(), (here, *others), has_questions=True),
            "this one alone": cls(EndSessionForm(), (here,)),
            "password changed": cls(EndSessionForm(), (here,), has_new_password=True),
            "something saved": cls(EndSessionForm(), (here,), is_saved=True),
            "one ended": cls(EndSessionForm(), (here, others[0]), has_ended=True),
        }


@pages.get("/security")
def show_security() -> Response:
    return _shown(EndSessionForm())


@pages.post("/security")
def end_sessions() -> Response:
    """End one session or all others; ending the present one is signing out."""
    form = EndSessionForm()
    if not form.validate():
        return _shown(form, status=form.refusal_status)
    try:
        step = api()(contract.end_session, form.to_request())
    except (e.NotAuthenticated, e.SessionExpired):
        return journey.onward("/security")  # gone already: the list without it is the answer
    return journey.onward("/security?ended=1") if step.step is Step.PROFILE else journey.follow(step)


def _shown(form: EndSessionForm, status: int = 200) -> Response:
    known = read_own_profile(with_sessions=True)
    if known is None:
        return callback.begin("/security")
    has_ended = request.args.get("ended") == "1"
    has_new_password = request.method == "GET" and bool(request.args.get("password"))
    rows, is_saved = tuple(_row(view) for view in known.sessions), request.args.get("saved") == "1"
    has_questions = bool(visit.current().tenant.every_question)
    return SecurityPage(form, rows, has_ended, is_saved, has_new_password, has_questions).render(status)


def _row(view: contract.SessionView) -> Session:
    both = view.browser and view.os
    browser = _named(view.browser, view.os) if both else view.browser or view.os or _l("Unknown browser")
    return Session(
        id=view.id,
        browser=browser,
        place=view.address or "",
        last_seen=_l("now") if view.is_current else _ago(view.last_seen_at),
        is_current=view.is_current,
        is_handheld=view.device_type in ("phone", "tablet"),
    )


def _ago(instant: str) -> str:
    span = datetime.fromisoformat(instant) - workings().clock.now()
    words: str = format_timedelta(span, add_direction=True)
    return words


def _named(browser: str | None, system: str | None) -> Any:
    return _l("%(browser)s on %(system)s", browser=browser, system=system)
