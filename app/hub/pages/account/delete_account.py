"""Account deletion: requested here, confirmed by a mailed link, reverted within a grace period by signing in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response

from app.contract import errors
from app.contract.accounts.pages import deletion_pages
from app.contract.accounts.self_service_operations import RequestDeletion, request_deletion
from app.contract.page_models import LinkToken
from app.hub.account_pages import require_reauthentication
from app.hub.components import mailed_link
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.restore_account import KeepAccountPage, RestoreForm
from app.hub.components.signed_in_account import read_profile
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.rendering.form import HubForm
from app.hub.rendering.formatting import format_day
from app.hub.rendering.page import Notice, Page
from app.hub.web.cookies import set_session
from app.hub.web.errors import shown_for
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/delete-account"
RESTORE: Final = "/keep-account"
_UNCONFIRMED: Final = Notice(
    _l("Verify your email first"), _l("We can only send the confirmation link to a verified email.")
)


class RequestDeletionForm(ReauthenticationForm):
    """Requests the mail that confirms the deletion."""


class ConfirmDeletionForm(HubForm):
    """Confirms the deletion."""


@dataclass(frozen=True)
class DeleteAccountPage(Page):
    """Explains the deletion and requests the confirmation mail."""

    template = "pages/account/delete_account.html"
    own_rules = ("effects", "danger")
    scripts = (*Page.scripts, "reveal")
    refusals = {**CHANGE_REFUSALS, errors.NotProcessable: _UNCONFIRMED}

    form: RequestDeletionForm
    has_email: bool = True
    deletion_days: int = 0
    """How long the deletion can be undone."""

    @classmethod
    def of(cls, form: RequestDeletionForm, *, has_email: bool = True) -> DeleteAccountPage:
        """Return the page at the tenant of the request."""
        return cls(form, has_email, current_visit().tenant.deletion_days)

    @classmethod
    def samples(cls) -> Mapping[str, DeleteAccountPage]:
        prompted = RequestDeletionForm(data={"account": "ada@example.com"})
        wrong = RequestDeletionForm(data={"reauthentication": NEEDED, "account": "ada@example.com", "password": "x"})
        prompted.add_refusal(errors.WrongCurrentPassword())
        wrong.add_refusal(errors.WrongCurrentPassword())
        return {
            "fresh": cls(RequestDeletionForm(), deletion_days=7),
            "for good": cls(RequestDeletionForm()),
            "with the password": cls(prompted),
            "wrong password": cls(wrong),
            "enough mail": cls(RequestDeletionForm(), page_notice=CHANGE_REFUSALS[errors.MailLimitReached]),
            "no address": cls(RequestDeletionForm(), has_email=False),
            "not confirmed": cls(RequestDeletionForm(), page_notice=_UNCONFIRMED),
        }


@dataclass(frozen=True)
class DeletionMailedPage(Page):
    """The confirmation mail was sent."""

    template = "pages/account/deletion_mailed.html"
    scripts = ("focus", "language")
    query = {"mailed": 1}

    @classmethod
    def samples(cls) -> Mapping[str, DeletionMailedPage]:
        return {"sent": cls()}


class DeletionState(StrEnum):
    """The state of the mailed link."""

    OPEN = "open"
    USED = "used"
    EXPIRED = "expired"
    UNKNOWN = "unknown"


_STATES: Final[dict[type[ApiError], DeletionState]] = {
    errors.UsedLink: DeletionState.USED,
    errors.ExpiredLink: DeletionState.EXPIRED,
    errors.WrongDeleteToken: DeletionState.UNKNOWN,
}


@dataclass(frozen=True)
class ConfirmDeletionPage(mailed_link.LinkPage):
    """Confirms the deletion by the mailed link. A GET does not use the link up."""

    template = "pages/account/confirm_deletion.html"
    required_blocks = frozenset({"lead"})
    own_rules = ("danger",)
    path = PATH

    form: ConfirmDeletionForm
    state: DeletionState
    days: int = 0

    @classmethod
    def samples(cls) -> Mapping[str, ConfirmDeletionPage]:
        samples = {state.value: cls(ConfirmDeletionForm(), state, token="a-token") for state in DeletionState}
        samples["open"] = cls(ConfirmDeletionForm(), DeletionState.OPEN, "ada@example.com", "a-token", 14)
        samples["open, for good"] = cls(ConfirmDeletionForm(), DeletionState.OPEN, "ada@example.com", "a-token", 0)
        return samples


@dataclass(frozen=True)
class AccountDeletedPage(Page):
    """The account is deleted, finally or with a grace period."""

    template = "pages/account/account_deleted.html"
    scripts = ("focus", "language")
    query = {"left": 10}

    until: Any = ""
    """The last day of the grace period; empty without one."""

    @classmethod
    def samples(cls) -> Mapping[str, AccountDeletedPage]:
        return {"in grace period": cls(format_day("2026-12-05")), "gone": cls()}


@account_page(PATH)
def show_delete_account() -> Response:
    token = mailed_link.link_token()
    if token:
        return _render_link(ConfirmDeletionForm(formdata=None), token)
    if "mailed" in current_visit().query:
        return DeletionMailedPage().render()
    if "left" in current_visit().query:
        return AccountDeletedPage(format_day(current_visit().query["left"])).render()
    view = read_profile()
    form = RequestDeletionForm(data=reauthentication_data(view))
    page = DeleteAccountPage.of(form, has_email=bool(view.profile.get("Email")))
    require_reauthentication(view)
    return page.render()


@pages.post(PATH)
def submit_delete_account() -> Response:
    if token := mailed_link.link_token():
        return _delete(token)
    form = RequestDeletionForm()
    if not form.validate():
        return DeleteAccountPage.of(form).render(form.error_status)
    try:
        api(form.current_password)(request_deletion, RequestDeletion())
    except ApiError as refusal:
        return DeleteAccountPage.of(form).render_refusal(refusal)
    return redirect_to(f"{PATH}?mailed=1")


@pages.get(RESTORE)
def show_account_restored() -> Response:
    """Confirm the reverted deletion; redirect to the login page if none was reverted."""
    if "kept" not in current_visit().query:
        return redirect_to("/login")
    return KeepAccountPage(RestoreForm(formdata=None), "", is_restored=True).render()


@pages.post(RESTORE)
def submit_keep_account() -> Response:
    form = RestoreForm()
    if not form.validate():
        return KeepAccountPage(form, "").render(form.error_status)
    try:
        api()(deletion_pages.cancel_deletion, form.to_request())
    except errors.WrongDeleteToken as refusal:
        return KeepAccountPage(form, "", is_expired=True).render(refusal.status)
    interaction = current_visit().interaction
    return redirect_to(f"{RESTORE}?{urlencode({'kept': 1, **({'attempt': interaction.id} if interaction else {})})}")


def _render_link(form: ConfirmDeletionForm, token: str, status: int = 200) -> Response:
    try:
        view = api()(deletion_pages.read_deletion, deletion_pages.DeletionLinkRequest(token=token))
    except ApiError as refusal:
        return _refused_link(refusal, token)
    return ConfirmDeletionPage(form, DeletionState.OPEN, view.email, token, view.days).render(status)


def _delete(token: str) -> Response:
    form = ConfirmDeletionForm()
    if not form.validate():
        return _render_link(form, token, form.error_status)
    try:
        deletion = api()(deletion_pages.confirm_deletion, LinkToken(token=token))
    except ApiError as refusal:
        return _refused_link(refusal, token)
    response = redirect_to(f"{PATH}?left={(deletion.leaves_at or '')[:10]}")
    if deletion.ends_session:
        set_session(response, None)
        current_visit().session = ""
    return response


def _refused_link(refusal: ApiError, token: str) -> Response:
    state = shown_for(refusal, _STATES)
    if state is None:
        raise refusal
    return ConfirmDeletionPage(ConfirmDeletionForm(formdata=None), state, token=token).render(refusal.status)
