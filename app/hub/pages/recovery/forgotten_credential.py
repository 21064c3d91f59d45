"""Forgotten password or PIN: ask for the identifier, then take the code.

These pages answer known and unknown identifiers alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from flask import Response

from app.contract import errors
from app.contract.page_models import CodeRequest, InteractionOnly
from app.contract.recovery import recovery_pages
from app.contract.step_reasons import Channel
from app.contract.steps import LoginStep, PinSentStep, ResetSentStep, StepResponse
from app.hub import journey
from app.hub.components.carried_identifier import prefilled_identifier
from app.hub.components.change_refusals import elsewhere_notice
from app.hub.components.reauthentication import current_reauthentication
from app.hub.components.sign_in_methods import PASSWORD as PASSWORD_METHOD
from app.hub.components.sign_in_methods import begin_method
from app.hub.components.sign_in_refusals import RefusalReason, sign_in_notice, too_many_notice
from app.hub.forms.code import (
    CLOSED,
    LINK_CLOSED,
    ButtonForm,
    CodeForm,
    CodePage,
    CodePageNotice,
    code_notice_for,
    redisplayed,
    sample_empty_form,
    sample_filled_form,
)
from app.hub.forms.identifier import IdentifierForm, identifier_attributes
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import pages
from app.hub.rendering.cached_pages import cached_page
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Page, with_retry_after
from app.hub.tenants.tenant import IdentifierKind
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit, interaction_url, requested_interaction_id
from app.kit.operations.errors import ApiError


@dataclass(frozen=True)
class ResettableCredential:
    """A credential that can be reset, and the addresses of its pages."""

    name: Literal["password", "pin"]
    address: str
    step: type[ResetSentStep | PinSentStep]

    @property
    def sent(self) -> str:
        return f"{self.address}/sent"


PASSWORD: Final = ResettableCredential("password", "/forgot-password", ResetSentStep)
PIN: Final = ResettableCredential("pin", "/forgot-pin", PinSentStep)
_BY_NAME: Final[dict[str, ResettableCredential]] = {credential.name: credential for credential in (PASSWORD, PIN)}


class ForgotForm(IdentifierForm):
    """The identifier of the account."""

    credential = PASSWORD

    def to_request(self) -> recovery_pages.ForgotRequest:
        typed = self.identifier.data or ""
        return recovery_pages.ForgotRequest(
            interaction_id=current_visit().interaction_id, identifier=typed, of=self.credential.name
        )

    @classmethod
    def of(
        cls, identifiers: tuple[IdentifierKind, ...], credential: ResettableCredential = PASSWORD, **provided: Any
    ) -> ForgotForm:
        """Return the form for the tenant's kinds of identifiers."""
        form = cls(**provided).accept_identifiers(identifiers)
        form.credential = credential
        return form


_EMAIL, _PHONE, _USERNAME = IdentifierKind.EMAIL, IdentifierKind.PHONE, IdentifierKind.USERNAME
_LEADS: Final = {
    frozenset({_EMAIL}): _l("Enter your email and we’ll send you a link."),
    frozenset({_PHONE}): _l("Enter your phone number and we’ll text you a code."),
    frozenset({_USERNAME}): _l("Enter your username and we’ll send you a link."),
    frozenset({_EMAIL, _PHONE}): _l("Enter your email or phone number and we’ll send you a link or a code."),
    frozenset({_EMAIL, _USERNAME}): _l("Enter your email or username and we’ll send you a link."),
    frozenset({_PHONE, _USERNAME}): _l("Enter your phone number or username and we’ll send you a link or a code."),
}
_LEAD_OF_ALL: Final = _l("Enter your email, phone number or username and we’ll send you a link or a code.")


@dataclass(frozen=True)
class ForgotPage(Page):
    """Asks for the identifier."""

    template = "pages/recovery/forgotten_credential.html"
    scripts = (*Page.scripts, "tabs")
    refusals = {errors.TooManyRequests: too_many_notice, errors.DirectoryPasswordElsewhere: elsewhere_notice}

    form: ForgotForm
    identifiers: tuple[IdentifierKind, ...] = (IdentifierKind.EMAIL,)
    credential: ResettableCredential = PASSWORD
    has_questions: bool = False
    """Whether security questions can reset it, too."""

    @property
    def lead(self) -> Any:
        return _LEADS.get(frozenset(self.identifiers), _LEAD_OF_ALL)

    @property
    def send_label(self) -> Any:
        """The button's text: what the tenant's identifiers let us send."""
        if self.identifiers == (_PHONE,):
            return _l("Send code")
        return _l("Continue") if self.asks_phone else _l("Send reset link")

    @property
    def asks_phone(self) -> bool:
        """Whether a phone number is one of the identifiers."""
        return _PHONE in self.identifiers

    @property
    def attributes(self) -> dict[str, str]:
        """The identifier field's HTML attributes for keyboards and password managers."""
        return identifier_attributes(self.identifiers)

    @classmethod
    def samples(cls) -> Mapping[str, ForgotPage]:
        email, phone, username = _EMAIL, _PHONE, _USERNAME
        common: dict[str, Any] = {"data": {"identifier": "ada@example.com"}}
        empty = ForgotForm.of((email,))
        empty.add_error("identifier", _l("Enter your email."))
        return {
            "fresh": cls(ForgotForm.of((email,))),
            "filled in": cls(ForgotForm.of((email,), **common)),
            "by phone": cls(ForgotForm.of((phone,)), (phone,)),
            "by any name": cls(ForgotForm.of((email, phone, username)), (email, phone, username)),
            "empty": cls(empty),
            "a PIN": cls(ForgotForm.of((email,)), credential=PIN),
            "a PIN, with questions": cls(ForgotForm.of((email,), **common), credential=PIN, has_questions=True),
            "managed elsewhere": cls(
                ForgotForm.of((email,), **common), page_notice=elsewhere_notice(errors.DirectoryPasswordElsewhere())
            ),
            "too many": cls(ForgotForm.of((email,), **common), page_notice=sign_in_notice(RefusalReason.TOO_MANY, 50)),
            "token": cls(ForgotForm.of((email,), **common).with_token_error()),
        }


@dataclass(frozen=True)
class ResetSentPage(CodePage):
    """A code or link was sent if the account exists."""

    template = "pages/recovery/reset_sent.html"
    query = {**CodePage.query, CLOSED: 1}

    credential: ResettableCredential = PASSWORD

    @property
    def polls(self) -> str:
        return interaction_url(f"{self.credential.address}/waiting")

    @property
    def is_known(self) -> bool:
        """Whether the visitor knows that the account exists, because a security alert led here."""
        return self.code_notice is CodePageNotice.CLOSED

    @classmethod
    def samples(cls) -> Mapping[str, ResetSentPage]:
        mail, number = "ada@example.com", "+44 20 7946 0018"
        code_notices = [
            CodePageNotice.SENT,
            CodePageNotice.WRONG,
            CodePageNotice.TOO_SOON,
            CodePageNotice.TOO_MANY,
            CodePageNotice.CLOSED,
        ]
        return {
            "fresh": cls(CodeForm(), mail, number="47"),
            "at a webmail service": cls(CodeForm(), "ada@gmail.com", False, 27, number="47"),
            "a moment ago": cls(CodeForm(), mail, resend_in_seconds=27),
            "to a username": cls(CodeForm(), "ada"),
            **{
                f"{name}, {carries} only": cls(
                    CodeForm(), to, number="47" * (carries == "link"), credential=of, carries=carries
                )
                for name, to, of in (
                    ("to an address", mail, PASSWORD),
                    ("to a name", "ada", PASSWORD),
                    ("a PIN", mail, PIN),
                )
                for carries in ("link", "otp")
            },
            "to a phone": cls(CodeForm(), number, is_text=True),
            "a PIN": cls(CodeForm(), mail, credential=PIN),
            "a PIN, to a phone": cls(CodeForm(), number, is_text=True, credential=PIN),
            "empty": cls(sample_empty_form(), mail),
            **{
                code_notice.value: cls(sample_filled_form(), mail, False, 21, code_notice)
                for code_notice in code_notices
            },
            "token": cls(sample_filled_form().with_token_error(), mail),
        }


@pages.get(PASSWORD.address, defaults={"name": PASSWORD.name})
@pages.get(PIN.address, defaults={"name": PIN.name})
def show_forgot(name: str) -> Response:
    """Render the form with the login hint, without an API call unless a session must reauthenticate."""
    visit, credential = current_visit(), _BY_NAME[name]
    if credential is PIN and not visit.tenant.pin.is_on:
        return redirect_to("/login")
    journey.refuse_expired_interaction()
    if (continued := journey.continue_signed_in()) is not None:
        return continued
    if (opened := journey.open_here_for_workflow()) is not None:
        return opened
    reauthentication = current_reauthentication()
    hint = reauthentication.name or reauthentication.account if reauthentication else prefilled_identifier()
    if not hint and current_visit().query.keys() <= {"attempt"}:
        return first_forgot_page(name)
    return _forgot(ForgotForm.of(visit.tenant.identifiers, credential, data={"identifier": hint})).render()


@cached_page(PASSWORD.address, PIN.address)
def first_forgot_page(name: str) -> Page:
    return _forgot(ForgotForm.of(current_visit().tenant.identifiers, _BY_NAME[name]))


@pages.post(PASSWORD.address, defaults={"name": PASSWORD.name})
@pages.post(PIN.address, defaults={"name": PIN.name})
def submit_forgot(name: str) -> Response:
    visit = current_visit()
    journey.refuse_unknown_interaction()
    form = ForgotForm.of(visit.tenant.identifiers, _BY_NAME[name])
    if not form.validate():
        return _forgot(form).render(form.error_status)
    try:
        response = api()(recovery_pages.forgot, form.to_request())
    except errors.PinOff:
        return redirect_to("/login")
    except (errors.TooManyRequests, errors.DirectoryPasswordElsewhere) as refusal:
        return _forgot(form).render_refusal(refusal)
    return begin_method(journey.follow(response), response, PASSWORD_METHOD)


@pages.get(PASSWORD.sent, defaults={"name": PASSWORD.name})
@pages.get(PIN.sent, defaults={"name": PIN.name})
def show_sent(name: str) -> Response:
    """Render the page of a waiting interaction; redirect any other to its step."""
    interaction = current_visit().interaction
    if interaction is None:
        return journey.start_again() if requested_interaction_id() else redirect_to(_BY_NAME[name].address)
    response = api()(recovery_pages.read_recovery, InteractionOnly(interaction_id=interaction.id))
    step = response.step
    if not isinstance(step, _BY_NAME[name].step):
        return journey.follow(response)
    code_notice, query = None, current_visit().query
    if query.get("sent"):
        code_notice = CodePageNotice.SENT
    elif query.get(CLOSED):
        code_notice = CodePageNotice.CLOSED
    return _sent(CodeForm(), step, code_notice).render()


@pages.post(PASSWORD.sent, defaults={"name": PASSWORD.name})
@pages.post(PIN.sent, defaults={"name": PIN.name})
def submit_sent(name: str) -> Response:
    """Verify the code, or resend the message, for the credential that the interaction waits for."""
    interaction = journey.require_interaction()
    action = current_visit().form.get("do")
    form = ButtonForm() if action in ("again", "go") else CodeForm()
    if not form.validate():
        return _render_again(form, interaction.id)
    try:
        if action == "go":
            return _continue(api()(recovery_pages.continue_reset, InteractionOnly(interaction_id=interaction.id)))
        if isinstance(form, CodeForm):
            typed = (form.code.data or "")[:64]
            return journey.follow(
                api()(recovery_pages.reset_code, CodeRequest(interaction_id=interaction.id, code=typed))
            )
        response = api()(recovery_pages.resend, InteractionOnly(interaction_id=interaction.id))
        is_sent = isinstance(response.step, _BY_NAME[name].step)
        return journey.follow(response, sent="again") if is_sent else journey.follow(response)
    except ApiError as refusal:
        return _refused(form, refusal, interaction.id)


@pages.get(f"{PASSWORD.address}/waiting")
def reset_state() -> Response:
    """Return the state of the waiting page as one word for its script."""
    interaction = current_visit().interaction
    step = (
        api()(recovery_pages.read_recovery, InteractionOnly(interaction_id=interaction.id)).step
        if interaction
        else None
    )
    state = step.state if isinstance(step, PASSWORD.step) else LINK_CLOSED
    return Response(state, content_type="text/plain; charset=utf-8")


def _continue(response: StepResponse) -> Response:
    """Follow the step after a reset; until then, render the page."""
    if isinstance(response.step, ResetSentStep):
        return _sent(CodeForm(formdata=None), response.step, CodePageNotice.UNOPENED).render()
    is_login = isinstance(response.step, LoginStep)
    return journey.follow(response, reset="done") if is_login else journey.follow_home(response)


def _forgot(form: ForgotForm) -> ForgotPage:
    tenant = current_visit().tenant
    has_questions = form.credential is PIN and bool(tenant.every_question)
    return ForgotPage(form, tenant.identifiers, form.credential, has_questions)


def _sent(
    form: CodeForm, step: ResetSentStep | PinSentStep, code_notice: CodePageNotice | None = None
) -> ResetSentPage:
    credential = PIN if isinstance(step, PinSentStep) else PASSWORD
    is_text = step.channel is Channel.SMS
    number = step.number if credential is PASSWORD and not is_text else ""
    return ResetSentPage(
        form, step.sent_to, is_text, step.resend_in_seconds, code_notice, number, step.carries, credential
    )


def _render_again(
    form: HubForm, interaction_id: str, code_notice: CodePageNotice | None = None, status: int = 0
) -> Response:
    response = api()(recovery_pages.read_recovery, InteractionOnly(interaction_id=interaction_id))
    if not isinstance(response.step, ResetSentStep | PinSentStep):
        return journey.follow(response)
    return _sent(redisplayed(form), response.step, code_notice).render(status or form.error_status)


def _refused(form: HubForm, refusal: ApiError, interaction_id: str) -> Response:
    """Show one message and status for every refused code, including a locked account."""
    if not isinstance(refusal, errors.TooManyRequests):
        return _render_again(form, interaction_id, CodePageNotice.WRONG, 403)
    return with_retry_after(_render_again(form, interaction_id, code_notice_for(form, refusal), 429), refusal)
