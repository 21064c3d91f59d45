"""Delete your account: asked for here, confirmed by a mailed link, and for a while undone by signing in again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response, request
from flask_babel import format_date
from flask_babel import lazy_gettext as _l
from wtforms import HiddenField

from app.contract import errors as e
from app.contract import hub_self_service as contract
from app.hub import journey, oidc_client
from app.hub.cookies import delete_cookie
from app.hub.forms.account import (
    NEEDED,
    PasswordConfirmationForm,
    confirmation_data,
    refusal_notice,
    require_confirmation,
)
from app.hub.forms.base import HubForm
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.pages.profile import read_own_profile
from app.hub.parts import mailed_link
from app.hub.services import api, services
from app.hub.visit import current_visit
from app.kit.errors import ApiError

ADDRESS: Final = "/delete-account"
KEEP: Final = "/keep-account"
_SAMPLE_DAY: Final = "2026-12-05"
_UNCONFIRMED: Final = Notice(
    _l("Confirm your address first"), _l("The mail that deletes an account goes to a confirmed address only.")
)


class AskForm(PasswordConfirmationForm):
    """The wish."""

    def to_request(self) -> contract.Proved:
        return contract.Proved(password=self.proof)


class ConfirmForm(HubForm):
    """The click that a mail leads to."""


class KeepForm(HubForm):
    """The click that undoes it."""

    keep = HiddenField()

    def to_request(self) -> contract.KeepRequest:
        return contract.KeepRequest(token=(self.keep.data or "")[:500])


@dataclass(frozen=True)
class DeleteAccountPage(Page):
    """What deleting means, and the wish for a mail that confirms it."""

    template = "pages/delete_account.html"
    scripts = (*Page.scripts, "reveal")

    form: AskForm
    problem: Notice | None = None
    has_email: bool = True

    @classmethod
    def samples(cls) -> Mapping[str, DeleteAccountPage]:
        asked, wrong = (
            AskForm(data={"account": "ada@example.com"}),
            AskForm(data={"asks": NEEDED, "account": "ada@example.com", "password": "x"}),
        )
        asked.add_refusal(e.WrongCurrentPassword())
        wrong.add_refusal(e.WrongCurrentPassword())
        return {
            "fresh": cls(AskForm()),
            "with the password": cls(asked),
            "wrong password": cls(wrong),
            "enough mail": cls(AskForm(), refusal_notice(e.MailLimitReached())),
            "no address": cls(AskForm(), has_email=False),
            "not confirmed": cls(AskForm(), _UNCONFIRMED),
        }


@dataclass(frozen=True)
class DeletionMailedPage(Page):
    """A mail is on its way."""

    template = "pages/deletion_mailed.html"
    scripts = ("focus", "language")
    query = {"mailed": 1}

    @classmethod
    def samples(cls) -> Mapping[str, DeletionMailedPage]:
        return {"sent": cls()}


class DeletionState(StrEnum):
    """Where the link of the mail stands."""

    OPEN = "open"
    USED = "used"
    EXPIRED = "expired"
    UNKNOWN = "unknown"


_STATES: Final[tuple[tuple[type[ApiError], DeletionState], ...]] = (
    (e.UsedLink, DeletionState.USED),
    (e.ExpiredLink, DeletionState.EXPIRED),
    (e.WrongDeleteToken, DeletionState.UNKNOWN),
)


@dataclass(frozen=True)
class ConfirmDeletionPage(Page):
    """Where the mailed link leads: a button that deletes. To look at the page uses nothing up."""

    template = "pages/confirm_deletion.html"
    query = {**Page.query, **mailed_link.QUERY, "vtype": 20}

    form: ConfirmForm
    state: DeletionState
    token: str = ""
    email: str = ""
    days: int = 0

    @property
    def action(self) -> str:
        """Where the form is sent: this page's own address, so that it can be read in another language after all."""
        return mailed_link.form_address(ADDRESS, self.token, vtype="deleteuser")

    @classmethod
    def samples(cls) -> Mapping[str, ConfirmDeletionPage]:
        made = {state.value: cls(ConfirmForm(), state, "a-token") for state in DeletionState}
        made["open"] = cls(ConfirmForm(), DeletionState.OPEN, "a-token", "ada@example.com", 14)
        made["open, for good"] = cls(ConfirmForm(), DeletionState.OPEN, "a-token", "ada@example.com", 0)
        return made


@dataclass(frozen=True)
class LeftPage(Page):
    """The account is deleted: for good, or kept for a while."""

    template = "pages/left.html"
    scripts = ("focus", "language")
    query = {"left": 10}

    until: Any = ""
    """The day until which it can be kept; empty where it is gone."""

    @classmethod
    def samples(cls) -> Mapping[str, LeftPage]:
        return {"kept for a while": cls(_day(_SAMPLE_DAY)), "gone": cls()}


@dataclass(frozen=True)
class KeepAccountPage(Page):
    """Somebody signed in to an account that is on its way out."""

    template = "pages/keep_account.html"

    form: KeepForm
    until: Any
    is_kept: bool = False
    is_over: bool = False

    @property
    def notice(self) -> Notice | None:
        if self.is_over:
            return Notice(_l("That took too long"), _l("Sign in once more, then choose again."))
        return super().notice

    @classmethod
    def samples(cls) -> Mapping[str, KeepAccountPage]:
        day = _day(_SAMPLE_DAY)
        return {
            "offered": cls(KeepForm(data={"keep": "a-token"}), day),
            "kept": cls(KeepForm(), day, is_kept=True),
            "too late": cls(KeepForm(), "", is_over=True),
        }


@pages.get(ADDRESS)
def show_delete_account() -> Response:
    token = mailed_link.link_token()
    if token:
        return _confirmation(ConfirmForm(formdata=None), token)
    if "mailed" in request.args:
        return DeletionMailedPage().render()
    if "left" in request.args:
        return LeftPage(_day(request.args["left"])).render()
    known = read_own_profile()
    if known is None:
        return oidc_client.start_login(ADDRESS)
    form = AskForm(data=confirmation_data(known))
    page = DeleteAccountPage(form, has_email=bool(known.profile.get("Email")))
    return require_confirmation(known, ADDRESS) or page.render()


@pages.post(ADDRESS)
def submit_delete_account() -> Response:
    if token := mailed_link.link_token():
        return _confirmed(token)
    form = AskForm()
    if not form.validate():
        return DeleteAccountPage(form).render(form.error_status)
    try:
        current_visit().renew(api()(contract.ask_deletion, form.to_request()).session)
    except e.NotAuthenticated:
        return oidc_client.start_login(ADDRESS)
    except ApiError as refusal:
        problem = None if form.add_refusal(refusal) else _problem(refusal)
        return DeleteAccountPage(form, problem).render(refusal.status)
    return journey.redirect_to(f"{ADDRESS}?mailed=1")


@pages.get(KEEP)
def show_kept() -> Response:
    """The account stays; whoever comes here without having said so begins at the sign-in."""
    if "kept" not in request.args:
        return journey.redirect_to("/login")
    return KeepAccountPage(KeepForm(formdata=None), "", is_kept=True).render()


@pages.post(KEEP)
def submit_keep_account() -> Response:
    form = KeepForm()
    if not form.validate():
        return KeepAccountPage(form, "").render(form.error_status)
    try:
        api()(contract.keep_account, form.to_request())
    except e.WrongDeleteToken as refusal:
        return KeepAccountPage(form, "", is_over=True).render(refusal.status)
    interaction = current_visit().interaction
    return journey.redirect_to(
        f"{KEEP}?{urlencode({'kept': 1, **({'attempt': interaction.id} if interaction else {})})}"
    )


def _problem(refusal: ApiError) -> Notice:
    return _UNCONFIRMED if isinstance(refusal, e.NotProcessable) else refusal_notice(refusal)


def offer_to_keep(refusal: e.AccountLeaving) -> Response:
    """Return the page for a right password of an account that is on its way out."""
    told = refusal.data or {}
    form = KeepForm(formdata=None, data={"keep": str(told.get("keep", ""))})
    return KeepAccountPage(form, _day(str(told.get("leaves_at") or ""))).render(refusal.status)


def _confirmation(form: ConfirmForm, token: str, status: int = 200) -> Response:
    try:
        known = api()(contract.read_deletion, contract.DeletionRead(token=token))
    except tuple(kind for kind, _ in _STATES) as refusal:
        return _closed(refusal, token)
    return ConfirmDeletionPage(form, DeletionState.OPEN, token, known.email, known.days).render(status)


def _confirmed(token: str) -> Response:
    form = ConfirmForm()
    if not form.validate():
        return _confirmation(form, token, form.error_status)
    try:
        left = api()(contract.confirm_deletion, contract.DeletionConfirmed(token=token))
    except tuple(kind for kind, _ in _STATES) as refusal:
        return _closed(refusal, token)
    response = journey.redirect_to(f"{ADDRESS}?left={(left.leaves_at or '')[:10]}")
    if left.ends_session:
        delete_cookie(response, services().session_cookie)
        current_visit().session = ""
    return response


def _closed(refusal: ApiError, token: str) -> Response:
    state = next(state for kind, state in _STATES if isinstance(refusal, kind))
    return ConfirmDeletionPage(ConfirmForm(formdata=None), state, token).render(refusal.status)


def _day(instant: str) -> str:
    """Return the day of an instant in the visitor's language; nothing where there is none."""
    try:
        day: str = format_date(datetime.fromisoformat(instant), "long")
    except ValueError:
        return ""
    return day
