"""Passwordless sign-in: ask for the identifier, then take the code or wait for an approval on another device.

These pages answer known and unknown identifiers alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, cast

from flask import Response
from wtforms import BooleanField

from app.contract import errors
from app.contract.page_models import CodeRequest, InteractionOnly, SentTo
from app.contract.passwordless.pages import link_and_code_pages
from app.contract.step_reasons import Channel, WaitingState
from app.contract.steps import SignInSentStep, StepResponse
from app.hub import journey
from app.hub.components import sign_in_methods
from app.hub.components.carried_identifier import is_phone, prefilled_identifier
from app.hub.components.reauthentication import current_reauthentication
from app.hub.components.sign_in_methods import DEVICE, MAIL, SMS
from app.hub.components.sign_in_refusals import RefusalReason, sign_in_notice, too_many_notice
from app.hub.forms.code import (
    EMAIL_RESENT,
    ButtonForm,
    CodeForm,
    CodePage,
    CodePageNotice,
    code_notice_for,
    redisplayed,
    resend_hint,
    sample_empty_form,
    sample_filled_form,
)
from app.hub.forms.identifier import IdentifierForm, identifier_attributes
from app.hub.forms.webmail import Webmail, webmail_of
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import pages
from app.hub.rendering.cached_pages import cached_page
from app.hub.rendering.countdown import Countdown
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice, Page, with_retry_after
from app.hub.tenants.tenant import IdentifierKind
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit, interaction_url, requested_interaction_id
from app.kit.operations.errors import ApiError

SENT: Final = "/sign-in/sent"
WAITING: Final = "/sign-in/waiting"


class PasswordlessForm(IdentifierForm):
    """The identifier and the method."""

    remember = BooleanField(_l("Keep me signed in"))
    method = MAIL

    def to_request(self) -> link_and_code_pages.PasswordlessRequest:
        return link_and_code_pages.PasswordlessRequest(
            interaction_id=current_visit().interaction_id,
            identifier=self.identifier.data or "",
            by=cast(Literal["mail", "sms", "device"], self.method),
            remember=bool(self.remember.data),
        )

    @classmethod
    def of(cls, method: str, identifiers: tuple[IdentifierKind, ...], **form_arguments: Any) -> PasswordlessForm:
        """Return the form of a method for the tenant's kinds of identifiers."""
        form = cls(**form_arguments).accept_identifiers({IdentifierKind.PHONE} if method == SMS else identifiers)
        form.method = method
        return form


@dataclass(frozen=True)
class PasswordlessPage(Page):
    """Asks for the identifier."""

    template = "pages/sign_in/passwordless.html"
    refusals = {errors.TooManyRequests: too_many_notice}

    form: PasswordlessForm
    method: str
    identifiers: tuple[IdentifierKind, ...] = (IdentifierKind.EMAIL,)
    has_remember_me: bool = True
    creates_account: bool = False
    """Whether an unknown identifier gets an account (one-touch)."""

    @property
    def address(self) -> str:
        return sign_in_methods.PATHS[self.method]

    @property
    def attributes(self) -> dict[str, str]:
        """The identifier field's HTML attributes for keyboards and password managers."""
        return identifier_attributes((IdentifierKind.PHONE,) if self.method == SMS else self.identifiers)

    @classmethod
    def samples(cls) -> Mapping[str, PasswordlessPage]:
        email, common = (IdentifierKind.EMAIL,), {"data": {"identifier": "ada@example.com"}}
        empty = PasswordlessForm.of(MAIL, email)
        empty.add_error("identifier", _l("Enter your email."))
        return {
            "by mail": cls(PasswordlessForm.of(MAIL, email), MAIL),
            "by mail, one-touch": cls(PasswordlessForm.of(MAIL, email, **common), MAIL, creates_account=True),
            "by text message": cls(PasswordlessForm.of(SMS, email), SMS),
            "on another device": cls(PasswordlessForm.of(DEVICE, email, **common), DEVICE, has_remember_me=False),
            "empty": cls(empty, MAIL),
            "too many": cls(
                PasswordlessForm.of(MAIL, email, **common), MAIL, page_notice=sign_in_notice(RefusalReason.TOO_MANY, 50)
            ),
            "token": cls(PasswordlessForm.of(MAIL, email, **common).with_token_error(), MAIL),
        }


@dataclass(frozen=True)
class SignInSentPage(CodePage):
    """A code or link was sent if the account exists."""

    template = "pages/sign_in/sign_in_sent.html"

    @property
    def polls(self) -> str:
        return interaction_url(WAITING)

    @property
    def other(self) -> str:
        """The address of the page that asks for the identifier."""
        return interaction_url(sign_in_methods.PATHS[SMS if self.is_text else MAIL])

    @classmethod
    def samples(cls) -> Mapping[str, SignInSentPage]:
        mail, number = "ada@example.com", "+44 20 7946 0018"
        code_notices = [CodePageNotice.WRONG, CodePageNotice.TOO_SOON, CodePageNotice.TOO_MANY]
        return {
            "fresh": cls(CodeForm(), mail, number="47"),
            "at a webmail service": cls(CodeForm(), "ada@gmail.com", False, 27, number="47"),
            "a moment ago": cls(CodeForm(), mail, resend_in_seconds=27),
            "to a phone": cls(CodeForm(), number, is_text=True),
            "link only": cls(CodeForm(), mail, number="47", carries="link"),
            "code only": cls(CodeForm(), mail, carries="otp"),
            "link only, to a name": cls(CodeForm(), "ada", number="47", carries="link"),
            "code only, to a name": cls(CodeForm(), "ada", carries="otp"),
            "empty": cls(sample_empty_form(), mail),
            "sent": cls(CodeForm(), mail, False, 21, CodePageNotice.SENT),
            **{
                code_notice.value: cls(sample_filled_form(), mail, False, 21, code_notice)
                for code_notice in code_notices
            },
            "token": cls(sample_filled_form().with_token_error(), mail),
        }


@dataclass(frozen=True)
class DeviceApprovalPage(Page):
    """Waits for the approval on another device."""

    template = "pages/sign_in/sign_in_device.html"
    scripts = (*Page.scripts, "wait", "poll")
    allows_fetch = True
    is_text: ClassVar[bool] = False

    form: ButtonForm
    sent_to: str
    number: str = ""
    state: str = "waits"
    """waits, approved, denied or over."""
    resend_in_seconds: int = 0
    code_notice: CodePageNotice | None = None

    @property
    def notice(self) -> Notice | None:
        if self.code_notice is CodePageNotice.TOO_SOON:
            return Notice(_l("Email sent"), self.wait, "note")
        return _NOTICES.get(self.code_notice) if self.code_notice else super().notice

    @property
    def wait(self) -> Any:
        return resend_hint(self.resend_in_seconds)

    @property
    def countdown(self) -> Countdown | None:
        return Countdown(self.resend_in_seconds) if self.resend_in_seconds else super().countdown

    @property
    def mailbox(self) -> Webmail | None:
        """The webmail service where the email arrives; None if unknown."""
        return webmail_of(self.sent_to)

    @property
    def other(self) -> str:
        """The address of the page that asks for the identifier."""
        return interaction_url(sign_in_methods.PATHS[DEVICE])

    @property
    def polls(self) -> str:
        """The address that the script polls."""
        return interaction_url(WAITING)

    @classmethod
    def samples(cls) -> Mapping[str, DeviceApprovalPage]:
        mail = "ada@example.com"
        return {
            "waits": cls(ButtonForm(), mail, "47", resend_in_seconds=27),
            "not yet": cls(ButtonForm(), mail, "47", code_notice=CodePageNotice.UNOPENED),
            "too soon": cls(ButtonForm(), mail, "47", "waits", 21, CodePageNotice.TOO_SOON),
            "too many": cls(ButtonForm(), mail, "47", code_notice=CodePageNotice.TOO_MANY),
            "sent again": cls(ButtonForm(), mail, "47", code_notice=CodePageNotice.SENT),
            "approved": cls(ButtonForm(), mail, "47", "approved"),
            "denied": cls(ButtonForm(), mail, "47", "denied"),
            "over": cls(ButtonForm(), mail, "47", "over"),
            "token": cls(ButtonForm().with_token_error(), mail, "47"),
        }


_NOTICES: Final = {
    CodePageNotice.UNOPENED: Notice(
        _l("Not approved yet"),
        _l("Open the link in the email, enter the number shown here, then continue."),
        "note",
    ),
    CodePageNotice.TOO_MANY: Notice(_l("Too many attempts"), _l("Try again in a few minutes.")),
    CodePageNotice.SENT: EMAIL_RESENT,
}


@pages.get("/sign-in/<method>")
def show_passwordless(method: str) -> Response:
    """Render the form with the login hint, without an API call unless a session must reauthenticate."""
    visit = current_visit()
    if method not in visit.tenant.passwordless_methods:
        return redirect_to("/login")
    journey.refuse_expired_interaction()
    if (opened := journey.open_here_for_workflow()) is not None:
        return opened
    if not sign_in_methods.can_begin(method):
        return redirect_to(interaction_url("/login"))
    reauthentication = current_reauthentication()
    hint = reauthentication.methods.get(method, "") if reauthentication else _prefilled(method)
    if not hint and current_visit().query.keys() <= {"attempt"}:
        return first_passwordless_page(method)
    return _page(PasswordlessForm.of(method, visit.tenant.identifiers, data={"identifier": hint}), method).render()


@cached_page(*(sign_in_methods.PATHS[method] for method in (MAIL, SMS, DEVICE)))
def first_passwordless_page(method: str) -> Page:
    return _page(PasswordlessForm.of(method, current_visit().tenant.identifiers), method)


@pages.post("/sign-in/<method>")
def submit_passwordless(method: str) -> Response:
    visit = current_visit()
    if method not in visit.tenant.passwordless_methods:
        return redirect_to("/login")
    journey.refuse_unknown_interaction()
    if not sign_in_methods.can_begin(method):
        return redirect_to(interaction_url("/login"))
    form = PasswordlessForm.of(method, visit.tenant.identifiers)
    if not form.validate():
        return _page(form, method).render(form.error_status)
    try:
        response = api()(link_and_code_pages.begin, form.to_request())
    except errors.PasswordlessOff:
        return redirect_to("/login")
    except errors.TooManyRequests as refusal:
        return _page(form, method).render_refusal(refusal)
    return sign_in_methods.begin_method(journey.follow(response), response, method)


@pages.get(SENT)
def show_sign_in_sent() -> Response:
    """Render the page of a waiting interaction; redirect any other to its step."""
    interaction = current_visit().interaction
    if interaction is None:
        return journey.start_again() if requested_interaction_id() else redirect_to("/login")
    response = api()(link_and_code_pages.read_state, InteractionOnly(interaction_id=interaction.id))
    return _render_state(response, CodeForm(), CodePageNotice.SENT if current_visit().query.get("sent") else None, 200)


@pages.get(WAITING)
def waiting_state() -> Response:
    """Return the state as one word for the page's script."""
    interaction = current_visit().interaction
    step = (
        api()(link_and_code_pages.read_state, InteractionOnly(interaction_id=interaction.id)).step
        if interaction
        else None
    )
    state = step.state if isinstance(step, SignInSentStep) else WaitingState.OVER
    return Response(state, content_type="text/plain; charset=utf-8")


@pages.post(SENT)
def submit_sign_in_sent() -> Response:
    """Verify the code, continue after an approval, or resend the message."""
    interaction, action = journey.require_interaction(), current_visit().form.get("do")
    form: HubForm = ButtonForm() if action in ("again", "go") else CodeForm()
    if not form.validate():
        response = api()(link_and_code_pages.read_state, InteractionOnly(interaction_id=interaction.id))
        return _render_state(response, redisplayed(form), None, form.error_status)
    try:
        if action == "go":
            return _continue(
                api()(link_and_code_pages.continue_approved, InteractionOnly(interaction_id=interaction.id))
            )
        if isinstance(form, CodeForm):
            typed = (form.code.data or "")[:64]
            return journey.follow(
                api()(link_and_code_pages.verify_code, CodeRequest(interaction_id=interaction.id, code=typed))
            )
        response = api()(link_and_code_pages.resend, InteractionOnly(interaction_id=interaction.id))
        is_sent = isinstance(response.step, SignInSentStep)
        return journey.follow(response, sent="again") if is_sent else journey.follow(response)
    except ApiError as refusal:
        return _refused(form, refusal, interaction.id)


def _page(form: PasswordlessForm, method: str) -> PasswordlessPage:
    tenant = current_visit().tenant
    creates_account = tenant.has_one_touch and method != DEVICE
    return PasswordlessPage(form, method, tenant.identifiers, tenant.has_remember_me, creates_account)


def _prefilled(method: str) -> str:
    """Return the identifier for the field; a text message goes to a phone number only."""
    identifier = prefilled_identifier()
    return "" if method == SMS and not is_phone(identifier) else identifier


def _continue(response: StepResponse) -> Response:
    """Follow the step; while undecided or denied, render the page."""
    if not isinstance(response.step, SignInSentStep):
        return journey.follow_home(response)
    is_undecided = response.step.state is WaitingState.WAITS
    return _sent(response.step, CodeForm(formdata=None), CodePageNotice.UNOPENED if is_undecided else None, 200)


def _render_state(response: StepResponse, form: CodeForm, code_notice: CodePageNotice | None, status: int) -> Response:
    if not isinstance(response.step, SignInSentStep):
        return journey.follow(response)
    return _sent(response.step, form, code_notice, status)


def _sent(step: SignInSentStep, form: CodeForm, code_notice: CodePageNotice | None, status: int) -> Response:
    name, resend_seconds = step.sent_to, step.resend_in_seconds
    if step.channel is Channel.DEVICE:
        button_form = ButtonForm(formdata=None)
        approval_form = button_form.with_token_error() if form.is_token_invalid else button_form
        page = DeviceApprovalPage(approval_form, name, step.number, step.state, resend_seconds, code_notice)
        return page.render(status)
    is_text = step.channel is Channel.SMS
    number = "" if is_text else step.number
    return SignInSentPage(form, name, is_text, resend_seconds, code_notice, number, step.carries).render(status)


def _refused(form: HubForm, refusal: ApiError, interaction_id: str) -> Response:
    """Show one message and status for every refused code, including a locked account."""
    is_rate_limited = isinstance(refusal, errors.TooManyRequests)
    code_notice = code_notice_for(form, refusal) if is_rate_limited else CodePageNotice.WRONG
    status = 429 if is_rate_limited else 403
    answer = SentTo.model_validate(refusal.data or {})
    if answer.sent_to and answer.channel is not Channel.DEVICE:
        is_text, seconds = answer.channel is Channel.SMS, answer.resend_in_seconds
        polls = is_rate_limited or isinstance(form, CodeForm)  # a refused page must not retry by itself
        number = answer.number if polls and not is_text else ""
        page = SignInSentPage(redisplayed(form), answer.sent_to, is_text, seconds, code_notice, number, answer.carries)
        rendered = page.render(status)
    else:
        response = api()(link_and_code_pages.read_state, InteractionOnly(interaction_id=interaction_id))
        rendered = _render_state(response, redisplayed(form), code_notice if is_rate_limited else None, status)
    return with_retry_after(rendered, refusal) if is_rate_limited else rendered
