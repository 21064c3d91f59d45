"""The account's consents: current choices, history, accepted privacy policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from flask import Response
from flask_babel import format_date

from app.contract import errors
from app.contract.accounts.self_service_operations import AcceptedPolicy
from app.contract.consents import consent_operations, consent_pages
from app.contract.consents.consent_operations import ConsentAnswer
from app.contract.consents.forms import ConsentForm
from app.contract.page_models import NoParameters
from app.hub.client.identity_client import SignInRequired
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.pages.consent import consent_fields
from app.hub.pages.consent.consent_fields import SAMPLE_NEWS, SAMPLE_SIGN_UP, BoxesForm, Section
from app.hub.rendering.page import Notice, Page, form_notice
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/consents"
_MAX_ENTRIES: Final = 50


@dataclass(frozen=True)
class ChangeLine:
    """One change in the history."""

    change: str
    title: str


@dataclass(frozen=True)
class HistoryEntry:
    """The changes of one day."""

    day: str
    lines: tuple[ChangeLine, ...]


@dataclass(frozen=True)
class AcceptedVersion:
    """An accepted version of the privacy policy."""

    version: str
    day: str


@dataclass(frozen=True)
class ConsentsPage(Page):
    """Edits the optional consents and shows the mandatory ones."""

    template = "pages/consent/account_consents.html"
    own_rules = ("choices",)
    query = {"saved": 1}
    refusals = CHANGE_REFUSALS

    form: BoxesForm
    forms: tuple[ConsentForm, ...]
    since: Mapping[str, str]
    """The day of the consent, by option id."""
    history: tuple[HistoryEntry, ...] = ()
    policies: tuple[AcceptedVersion, ...] = ()
    is_saved: bool = False

    @property
    def notice(self) -> Notice | None:
        return super().notice or (Notice(_l("Saved"), tone="ok") if self.is_saved else None)

    @property
    def sections(self) -> tuple[Section, ...]:
        return consent_fields.sections(self.forms, self.form)

    @property
    def has_choice(self) -> bool:
        """Whether any consent is optional."""
        return bool(self.form.options)

    @property
    def shown(self) -> str:
        """The ids of the boxes on the page, posted with the form: a consent without a box is not withdrawn."""
        return " ".join(option.id for option in self.form.options)

    @property
    def link(self) -> str:
        """The address of the tenant's privacy policy."""
        return dict(current_visit().brand.links).get("privacy", "")

    @classmethod
    def samples(cls) -> Mapping[str, ConsentsPage]:
        both = (SAMPLE_SIGN_UP, SAMPLE_NEWS)
        since = {
            "age": _format_date("2025-03-01"),
            "terms": _format_date("2026-05-02"),
            "news": _format_date("2026-05-02"),
        }
        titles = consent_fields.titles(both)
        history = (
            HistoryEntry(
                _format_date("2026-05-02"),
                (ChangeLine("Subscribe", titles["terms"]), ChangeLine("Subscribe", titles["news"])),
            ),
            HistoryEntry(_format_date("2025-08-11"), (ChangeLine("Unsubscribe", titles["mail"]),)),
            HistoryEntry(
                _format_date("2025-03-01"),
                (ChangeLine("Subscribe", titles["age"]), ChangeLine("NotOpted", titles["news"])),
            ),
        )
        accepted = (
            AcceptedVersion("2026-05", _format_date("2026-05-02")),
            AcceptedVersion("1", _format_date("2025-03-01")),
        )
        form = _boxes(both, since)
        return {
            "full": cls(form, both, since, history, accepted),
            "saved": cls(form, both, since, history, is_saved=True),
            "policy alone": cls(BoxesForm.of(()), (), {}, (), accepted),
            "nothing yet": cls(BoxesForm.of(()), (), {}),
            "failed": cls(form, both, since, history, page_notice=CHANGE_REFUSALS[ApiError]),
        }


@account_page(PATH)
def show_consents() -> Response:
    return _page(_read()).render()


@pages.post(PATH)
def submit_consents() -> Response:
    visit = current_visit()
    form = BoxesForm.of(_optional(visit.tenant.consent_forms))
    shown_ids = set(visit.form.get("shown", "").split())
    if not form.validate():
        return replace(_page(_read()), page_notice=form_notice(form)).render(form.error_status)
    try:
        choices = {option: yes for option, yes in form.ticked.items() if option in shown_ids}
        if choices:
            answers = [ConsentAnswer(consent_option_id=option, is_accepted=yes) for option, yes in choices.items()]
            api()(consent_operations.change, consent_operations.UpdateOwnConsents(Consents=answers))
        return redirect_to(f"{PATH}?saved=1")
    except (errors.ConsentsOff, errors.NoConsentForm, errors.ConsentRefused, errors.TooManyRequests) as refusal:
        return _page(_read()).render_refusal(refusal)


def _read() -> consent_pages.OwnConsents:
    if not current_visit().session:
        raise SignInRequired
    return api()(consent_pages.read_consents, NoParameters())


def _page(view: consent_pages.OwnConsents) -> ConsentsPage:
    """Return the page with the stored consents, whatever was posted."""
    forms = consent_fields.forms_of(view.events)
    titles = consent_fields.titles(current_visit().tenant.consent_forms)
    since = {item.option: _format_date(item.at) for item in view.agreed}
    return ConsentsPage(
        form=_boxes(forms, since),
        forms=forms,
        since=since,
        history=tuple(_history_entry(item, titles) for item in view.history[:_MAX_ENTRIES]),
        policies=tuple(_accepted_version(item) for item in view.policies),
        is_saved=not current_visit().is_post and current_visit().query.get("saved") == "1",
    )


def _boxes(forms: tuple[ConsentForm, ...], agreed: Mapping[str, Any]) -> BoxesForm:
    """Return the boxes of the optional consents in their stored state, whatever was posted."""
    return BoxesForm.of(_optional(forms), agreed, formdata=None)


def _optional(forms: tuple[ConsentForm, ...]) -> list[Any]:
    return [option for option in consent_fields.options_of(forms) if not option.mandatory]


def _history_entry(logged: consent_pages.ConsentEntry, titles: Mapping[str, str]) -> HistoryEntry:
    lines = tuple(ChangeLine(item.change, titles.get(item.option, item.option)) for item in logged.choices)
    return HistoryEntry(_format_date(logged.at), lines)


def _accepted_version(policy: AcceptedPolicy) -> AcceptedVersion:
    return AcceptedVersion(policy.version, _format_date(policy.accept_date_time))


def _format_date(instant: str) -> str:
    day: str = format_date(datetime.fromisoformat(instant), "long")
    return day
