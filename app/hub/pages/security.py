"""Security: where the account is signed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask_babel import lazy_gettext as _l
from wtforms import HiddenField

from app.hub.forms import HubForm
from app.hub.page import Notice, Page


class EndSessionForm(HubForm):
    """Ends one session, or with `everywhere` all but this one."""

    session_id = HiddenField()


@dataclass(frozen=True)
class Session:
    """A browser in which the account is signed in."""

    id: str
    browser: str
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

    form: EndSessionForm
    sessions: tuple[Session, ...]
    has_ended: int = 0
    """How many sessions the last click ended."""

    @property
    def notice(self) -> Notice | None:
        if self.form.is_token_refused:
            return Notice(_l("Please press it once more"), _l("We could not be sure that it came from this page."), "note")
        if self.has_ended:
            return Notice(_l("Signed out there"), _l("That browser has to sign in again."), "ok")
        return None

    @property
    def has_others(self) -> bool:
        return len(self.sessions) > 1

    @classmethod
    def samples(cls) -> Mapping[str, SecurityPage]:
        here = Session("s1", "Firefox on Linux", "Berlin, Germany", _l("now"), is_current=True)
        others = (
            Session("s2", "Safari on iPhone", "Hamburg, Germany", "2 h", is_handheld=True),
            Session("s3", "Chrome on Windows", "203.0.113.77", "3 d"),
        )
        return {
            "three": cls(EndSessionForm(), (here, *others)),
            "this one alone": cls(EndSessionForm(), (here,)),
            "one ended": cls(EndSessionForm(), (here, others[0]), has_ended=1),
        }
