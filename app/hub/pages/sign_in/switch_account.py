"""Asks before a provider's answer replaces the browser's account, and before one signs in that this browser did not ask for.

Any site can lead a browser to a provider, or post an answer with an account of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract import errors
from app.contract.federation.pages import connection_pages
from app.contract.page_models import InteractionDecision
from app.contract.sessions.models import SwitchAccountStep
from app.hub import journey
from app.hub.components.error_pages import ErrorPage, RequestError
from app.hub.components.restore_account import offer_restore
from app.hub.components.sign_in_refusals import reason_for
from app.hub.forms.code import ButtonForm
from app.hub.pages import pages
from app.hub.pages.sign_in.login.current_page import render_after_refusal
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/sign-in/switch-account"
_MAX_LENGTH: Final = 100


@dataclass(frozen=True)
class SwitchAccountPage(Page):
    """Shows the current account, and offers to switch to the provider's or to stay."""

    template = "pages/sign_in/switch_account.html"
    required_blocks = frozenset({"lead"})

    form: ButtonForm
    account: str
    """The label of the current account."""
    other: str
    """The label of the account that the provider's answer signs in."""

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, SwitchAccountPage]:
        accounts = ("ada@example.com", "ada.king@globex.example")
        return {"asked": cls(ButtonForm(), *accounts), "token": cls(ButtonForm().with_token_error(), *accounts)}


@dataclass(frozen=True)
class ConfirmProviderPage(Page):
    """Shows whom the provider signs in."""

    template = "pages/sign_in/confirm_provider.html"
    required_blocks = frozenset({"lead"})
    query = {**Page.query, "answer": _MAX_LENGTH}

    form: ButtonForm
    answer: str
    account: str
    provider: str

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, ConfirmProviderPage]:
        told = ("4nsw3r", "mina@globex.example", "Globex Gardens")
        return {"asked": cls(ButtonForm(), *told), "token": cls(ButtonForm().with_token_error(), *told)}


@pages.get(PATH)
def show_switch_account() -> Response:
    journey.require_interaction()
    journey.refuse_expired_interaction()
    return _question(ButtonForm())


@pages.post(PATH)
def submit_switch_account() -> Response:
    interaction, form = journey.require_interaction(), ButtonForm()
    if not form.validate():
        return _question(form, form.error_status)
    decision = InteractionDecision(interaction_id=interaction.id, allow=current_visit().form.get("do") == "yes")
    try:
        return journey.follow(api()(connection_pages.decide_switch, decision))
    except errors.AccountLeaving as refusal:
        return offer_restore(refusal)
    except ApiError as refusal:
        return render_after_refusal(reason_for(refusal), status=refusal.status)


def _question(form: ButtonForm, status: int = 200) -> Response:
    response = journey.present_step()
    if not isinstance(response.step, SwitchAccountStep):
        return journey.follow(response)
    return SwitchAccountPage(form, response.step.current, response.step.other).render(status)


@pages.get(connection_pages.CONFIRM)
def show_confirm_provider() -> Response:
    return _confirmation(ButtonForm(), current_visit().query.get("answer", ""))


@pages.post(connection_pages.CONFIRM)
def submit_confirm_provider() -> Response:
    answer, form = current_visit().form.get("answer", ""), ButtonForm()
    if not form.validate():
        return _confirmation(form, answer, form.error_status)
    try:
        request_body = connection_pages.UnsolicitedAnswer(answer=answer[:_MAX_LENGTH])
        return journey.follow(api()(connection_pages.confirm_unsolicited, request_body))
    except errors.UnknownConnection as refusal:
        return _is_over(refusal)
    except errors.AccountLeaving as refusal:
        return offer_restore(refusal)
    except ApiError as refusal:
        return render_after_refusal(reason_for(refusal), status=refusal.status)


def _confirmation(form: ButtonForm, answer: str, status: int = 200) -> Response:
    try:
        found = api()(
            connection_pages.read_unsolicited, connection_pages.UnsolicitedAnswer(answer=answer[:_MAX_LENGTH])
        )
    except errors.UnknownConnection as refusal:
        return _is_over(refusal)
    return ConfirmProviderPage(form, answer[:_MAX_LENGTH], found.fields["email"], found.title).render(status)


def _is_over(refusal: ApiError) -> Response:
    reference = current_visit().reference
    page = ErrorPage(RequestError.SIGN_IN_FAILED, 400, reference, detail=str(refusal.code), again="/login")
    return page.render(400)
