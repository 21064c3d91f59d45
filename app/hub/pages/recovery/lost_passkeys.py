"""Lost passkeys: request a mailed link, which replaces all passkeys of the account by a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response
from werkzeug.exceptions import NotFound

from app.contract import errors
from app.contract.page_models import LinkToken
from app.contract.passkeys import passkey_pages
from app.hub import journey
from app.hub.components import mailed_link
from app.hub.components.carried_identifier import prefilled_identifier
from app.hub.forms.identifier import IdentifierForm, identifier_attributes
from app.hub.forms.passkey import (
    FAILED,
    PASSKEY_REFUSALS,
    SCRIPTLESS,
    CredentialForm,
    options_response,
    read_credential,
)
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import pages
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.tenant import IdentifierKind
from app.hub.web.errors import shown_for
from app.hub.web.services import api
from app.hub.web.short_links import PARAMETER
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

LOST: Final = "/passkeys/lost"
RESET: Final = "/passkeys/reset"
_RATE_LIMITED: Final = Notice(_l("Too many attempts"), _l("Try again later."))


class LostForm(IdentifierForm):
    """The identifier of the account."""

    def to_request(self) -> passkey_pages.LostPasskeyRequest:
        visit = current_visit()
        interaction_id = visit.interaction_id
        return passkey_pages.LostPasskeyRequest(
            identifier=(self.identifier.data or "").strip(), interaction_id=interaction_id
        )

    @classmethod
    def of(cls, identifiers: tuple[IdentifierKind, ...], **form_arguments: Any) -> LostForm:
        """Return the form for the tenant's kinds of identifiers."""
        return cls(**form_arguments).accept_identifiers(identifiers)


@dataclass(frozen=True)
class LostPasskeyPage(Page):
    """Asks for the identifier, then confirms that a mail was sent."""

    template = "pages/recovery/lost_passkeys.html"
    refusals = {errors.TooManyRequests: _RATE_LIMITED}

    form: LostForm
    attributes: Mapping[str, str]
    sent_to: str = ""

    @classmethod
    def samples(cls) -> Mapping[str, LostPasskeyPage]:
        email = (IdentifierKind.EMAIL,)
        names, empty = identifier_attributes(email), LostForm.of(email)
        empty.add_error("identifier", _l("Enter your email."))
        return {
            "fresh": cls(LostForm.of(email), names),
            "empty": cls(empty, names),
            "sent": cls(LostForm.of(email), names, sent_to="ada@example.com"),
            "too often": cls(LostForm.of(email), names, page_notice=_RATE_LIMITED),
        }


@dataclass(frozen=True)
class ResetPasskeyPage(mailed_link.LinkPage):
    """Creates a new passkey by a mailed link."""

    template = "pages/recovery/passkey_reset.html"
    path = RESET
    scripts = (*Page.scripts, "passkey")
    allows_fetch = True
    refusals = {ApiError: FAILED, **PASSKEY_REFUSALS}

    form: CredentialForm
    state: str = "open"

    @property
    def notice(self) -> Notice | None:
        return super().notice or _STATES.get(self.state)

    @classmethod
    def samples(cls) -> Mapping[str, ResetPasskeyPage]:
        sample = cls(CredentialForm(), label="ada@example.com", token="x")
        return {
            **{state: replace(sample, state=state) for state in ("open", *_STATES)},
            "without a script": replace(sample, page_notice=SCRIPTLESS),
            "refused": replace(sample, page_notice=FAILED),
        }


_STATES: Final = {
    "used": Notice(_l("Link already used"), _l("Your new passkey is ready. Use it to sign in."), "note"),
    "expired": Notice(_l("Link expired"), _l("Request a new one."), "note"),
    "unknown": Notice(_l("Link incomplete"), _l("Copy the whole link from the email, or request a new one.")),
}
_LINK_STATES: Final[dict[type[ApiError], str]] = {
    errors.UsedLink: "used",
    errors.ExpiredLink: "expired",
    errors.UnknownLink: "unknown",
    errors.AccountBlocked: "expired",
}


@pages.get(LOST)
def show_lost_passkey() -> Response:
    _require_passkeys()
    if (opened := journey.open_here_for_workflow()) is not None:
        return opened
    data = {"identifier": prefilled_identifier()}
    return _page(LostForm.of(current_visit().tenant.identifiers, formdata=None, data=data)).render()


@pages.post(LOST)
def submit_lost_passkey() -> Response:
    _require_passkeys()
    form = LostForm.of(current_visit().tenant.identifiers)
    if not form.validate():
        return _page(form).render(form.error_status)
    try:
        api()(passkey_pages.lost, form.to_request())
    except errors.TooManyRequests as refusal:
        return _page(form).render_refusal(refusal)
    return _page(form, sent_to=(form.identifier.data or "").strip()[:320]).render()


@pages.get(RESET)
def show_reset_passkey() -> Response:
    """Render the link's page. A GET does not use the link up."""
    _require_passkeys()
    token = mailed_link.link_token()
    link = api()(passkey_pages.read_lost, mailed_link.link_read(token))
    return ResetPasskeyPage(CredentialForm(formdata=None), link.state, link.label, token).render()


@pages.post(f"{RESET}/options")
def reset_options() -> Response:
    token = current_visit().form.get(PARAMETER, "")[:300]
    return options_response(CredentialForm(), lambda: api()(passkey_pages.begin_lost, LinkToken(token=token)))


@pages.post(RESET)
def submit_reset_passkey() -> Response:
    visit = current_visit()
    _require_passkeys()
    form, token = CredentialForm(), visit.form.get(PARAMETER, "")[:300]
    page = ResetPasskeyPage(form, token=token, label=visit.form.get("label", "")[:320])
    if not form.validate():
        return page.render(form.error_status)
    credential = read_credential(form)
    form.credential.data = ""
    if credential is None:
        return replace(page, page_notice=SCRIPTLESS).render(422)
    try:
        response = api()(
            passkey_pages.finish_lost, passkey_pages.FinishReplacementRequest(token=token, credential=credential)
        )
    except ApiError as refusal:
        state = shown_for(refusal, _LINK_STATES)
        return replace(page, state=state).render(refusal.status) if state else page.render_refusal(refusal)
    return journey.follow(response, reset="passkey")


def _page(form: LostForm, *, sent_to: str = "") -> LostPasskeyPage:
    attributes = identifier_attributes(current_visit().tenant.identifiers)
    return LostPasskeyPage(form, attributes, sent_to)


def _require_passkeys() -> None:
    if not current_visit().tenant.passkeys:
        raise NotFound
