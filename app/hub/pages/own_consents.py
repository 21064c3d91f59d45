"""Your consents: what one agreed to, what can be changed, and how it came to that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from flask import Response, request
from flask_babel import format_date
from flask_babel import lazy_gettext as _l

from app.contract import errors as e
from app.contract import hub_consents as contract
from app.contract.consent_forms import ConsentForm
from app.contract.self_service import AcceptedPolicy
from app.hub import journey, oidc_client
from app.hub.forms import consent
from app.hub.forms.account import refusal_notice
from app.hub.forms.consent import BoxesForm, Section
from app.hub.page import Notice, Page, form_notice
from app.hub.pages import pages
from app.hub.pages.consent_forms import NEWS, SIGN_UP
from app.hub.services import api
from app.hub.visit import current_visit

ADDRESS: Final = "/consents"
_MOST_SHOWN: Final = 50


@dataclass(frozen=True)
class Line:
    """One thing of the history: which change, and of what."""

    change: str
    title: str


@dataclass(frozen=True)
class Entry:
    """What was answered on a day."""

    day: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Accepted:
    """A version of the privacy policy, and the day it was accepted."""

    version: str
    day: str


@dataclass(frozen=True)
class OwnConsentsPage(Page):
    """Change what is optional; what the account needs is shown as such."""

    template = "pages/own_consents.html"
    query = {"saved": 1}

    form: BoxesForm
    forms: tuple[ConsentForm, ...]
    since: Mapping[str, str]
    """The day since when an option is agreed to, by its id."""
    history: tuple[Entry, ...] = ()
    policies: tuple[Accepted, ...] = ()
    is_saved: bool = False
    problem: Notice | None = None

    @property
    def notice(self) -> Notice | None:
        return super().notice or (Notice(_l("Saved"), tone="ok") if self.is_saved else None)

    @property
    def sections(self) -> tuple[Section, ...]:
        return consent.sections(self.forms, self.form)

    @property
    def has_choice(self) -> bool:
        """Whether anything can be changed."""
        return bool(self.form.options)

    @property
    def shown(self) -> str:
        """Which boxes there are, as the form carries it: one that the page did not have is not taken back by silence."""
        return " ".join(option.id for option in self.form.options)

    @property
    def link(self) -> str:
        """Where the privacy policy stands."""
        return dict(current_visit().tenant.brand.links).get("privacy", "")

    @classmethod
    def samples(cls) -> Mapping[str, OwnConsentsPage]:
        both, since = (
            (SIGN_UP, NEWS),
            {"age": _day("2025-03-01"), "terms": _day("2026-05-02"), "news": _day("2026-05-02")},
        )
        named = consent.titles(both)
        history = (
            Entry(_day("2026-05-02"), (Line("Subscribe", named["terms"]), Line("Subscribe", named["news"]))),
            Entry(_day("2025-08-11"), (Line("Unsubscribe", named["mail"]),)),
            Entry(_day("2025-03-01"), (Line("Subscribe", named["age"]), Line("NotOpted", named["news"]))),
        )
        accepted = (Accepted("2026-05", _day("2026-05-02")), Accepted("1", _day("2025-03-01")))
        form = _boxes(both, since)
        return {
            "full": cls(form, both, since, history, accepted),
            "saved": cls(form, both, since, history, is_saved=True),
            "policy alone": cls(BoxesForm.of(()), (), {}, (), accepted),
            "nothing yet": cls(BoxesForm.of(()), (), {}),
            "failed": cls(form, both, since, history, problem=refusal_notice(e.TooManyRequests())),
        }


@pages.get(ADDRESS)
def show_consents() -> Response:
    known = _read()
    return _page(known).render() if known else oidc_client.start_login(ADDRESS)


@pages.post(ADDRESS)
def submit_consents() -> Response:
    form = BoxesForm.of(_optional(current_visit().tenant.consent_forms))
    shown = set(request.form.get("shown", "").split())
    if not form.validate():
        return _refused(form.error_status, form_notice(form))
    try:
        choices = {option: yes for option, yes in form.ticked.items() if option in shown}
        if choices:
            api()(contract.edit_consents, contract.ConsentsEdited(choices=choices))
        return journey.redirect_to(f"{ADDRESS}?saved=1")
    except e.NotAuthenticated:
        return oidc_client.start_login(ADDRESS)
    except (e.ConsentsOff, e.NoConsentForm, e.ConsentRefused, e.TooManyRequests) as refusal:
        return _refused(refusal.status, refusal_notice(refusal))


def _refused(status: int, problem: Notice | None) -> Response:
    """What stands is drawn again, and what is wrong above it."""
    known = _read()
    return _page(known, problem).render(status) if known else oidc_client.start_login(ADDRESS)


def _read() -> contract.OwnConsents | None:
    if not current_visit().session:
        return None
    try:
        return api()(contract.own_consents, contract.OwnConsentsRead())
    except e.NotAuthenticated:
        return None


def _page(known: contract.OwnConsents, problem: Notice | None = None) -> OwnConsentsPage:
    forms = consent.forms_of(known.events)
    titles = consent.titles(current_visit().tenant.consent_forms)
    since = {one.option: _day(one.at) for one in known.agreed}
    return OwnConsentsPage(
        form=_boxes(forms, since),
        forms=forms,
        since=since,
        history=tuple(_entry(one, titles) for one in known.history[:_MOST_SHOWN]),
        policies=tuple(_accepted(one) for one in known.policies),
        is_saved=request.method == "GET" and request.args.get("saved") == "1",
        problem=problem,
    )


def _boxes(forms: tuple[ConsentForm, ...], agreed: Mapping[str, Any]) -> BoxesForm:
    """Return boxes for what can be changed, as it stands: whatever was just sent."""
    return BoxesForm.of(_optional(forms), agreed, formdata=None)


def _optional(forms: tuple[ConsentForm, ...]) -> list[Any]:
    return [option for option in consent.options_of(forms) if not option.mandatory]


def _entry(logged: contract.ConsentEntry, titles: Mapping[str, str]) -> Entry:
    lines = tuple(Line(one.change, titles.get(one.option, one.option)) for one in logged.choices)
    return Entry(_day(logged.at), lines)


def _accepted(policy: AcceptedPolicy) -> Accepted:
    return Accepted(policy.version, _day(policy.accept_date_time))


def _day(instant: str) -> str:
    day: str = format_date(datetime.fromisoformat(instant), "long")
    return day
