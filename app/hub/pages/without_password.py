"""Sign in without a password: who are you; then the page that says where to look, takes the code, or waits for a yes elsewhere.

Nothing here differs between a name that somebody has and one that nobody has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from flask import Response, request
from flask_babel import lazy_gettext as _l
from wtforms import BooleanField

from app.contract import errors as e
from app.contract import hub_passwordless as contract
from app.contract.hub import Next, Step
from app.contract.hub_recovery import AttemptOnly, CodeRequest
from app.contract.mailed import MailedTo
from app.hub import journey
from app.hub.forms.base import HubForm
from app.hub.forms.code import (
    ButtonForm,
    CodeForm,
    CodePage,
    Outcome,
    outcome_for,
    redisplayed,
    resend_hint,
    sample_empty_form,
    sample_filled_form,
)
from app.hub.forms.identifier import IdentifierForm, identifier_attributes
from app.hub.page import Notice, Page, render_cached
from app.hub.pages import pages
from app.hub.parts import reauthentication, sign_in_methods
from app.hub.parts.sign_in_methods import DEVICE, MAIL, SMS
from app.hub.parts.sign_in_refusals import RefusalReason, sign_in_notice
from app.hub.services import api
from app.hub.tenancy import Identifier
from app.hub.visit import current_visit, requested_interaction_id
from app.kit.errors import ApiError

SENT: Final = "/sign-in/sent"
WAITING: Final = "/sign-in/waiting"


class AskForm(IdentifierForm):
    """Who one is, and by which way."""

    remember = BooleanField(_l("Keep me signed in on this device"))
    way = MAIL

    def to_request(self) -> contract.SignInAsked:
        interaction = current_visit().interaction
        return contract.SignInAsked(
            attempt=interaction.id if interaction else None,
            identifier=self.identifier.data or "",
            by=cast(Literal["mail", "sms", "device"], self.way),
            remember=bool(self.remember.data),
        )

    @classmethod
    def of(cls, way: str, identifiers: tuple[Identifier, ...], **given: Any) -> AskForm:
        """Return the form of a way, for what a tenant's people may be named by."""
        form = cls(**given).accept_identifiers({Identifier.PHONE} if way == SMS else identifiers)
        form.way = way
        return form


@dataclass(frozen=True)
class AskPage(Page):
    """Who are you?"""

    template = "pages/without_password.html"

    form: AskForm
    way: str
    identifiers: tuple[Identifier, ...] = (Identifier.EMAIL,)
    has_remember_me: bool = True
    takes_in: bool = False
    """Whoever is new gets an account by it."""
    refusal: RefusalReason | None = None
    wait_seconds: int = 0

    @property
    def address(self) -> str:
        return sign_in_methods.ADDRESSES[self.way]

    @property
    def notice(self) -> Notice | None:
        return sign_in_notice(self.refusal, self.wait_seconds) if self.refusal else super().notice

    @property
    def attributes(self) -> dict[str, str]:
        """What tells keyboards and password managers what the identifier is."""
        return identifier_attributes((Identifier.PHONE,) if self.way == SMS else self.identifiers)

    @classmethod
    def samples(cls) -> Mapping[str, AskPage]:
        email, given = (Identifier.EMAIL,), {"data": {"identifier": "ada@example.com"}}
        empty = AskForm.of(MAIL, email)
        empty.add_error("identifier", _l("Enter your email."))
        return {
            "by mail": cls(AskForm.of(MAIL, email), MAIL),
            "by mail, for whoever is new": cls(AskForm.of(MAIL, email, **given), MAIL, takes_in=True),
            "by text message": cls(AskForm.of(SMS, email), SMS),
            "on another device": cls(AskForm.of(DEVICE, email, **given), DEVICE, has_remember_me=False),
            "empty": cls(empty, MAIL),
            "too many": cls(AskForm.of(MAIL, email, **given), MAIL, refusal=RefusalReason.TOO_MANY, wait_seconds=50),
            "token": cls(AskForm.of(MAIL, email, **given).with_token_error(), MAIL),
        }


@dataclass(frozen=True)
class SignInSentPage(CodePage):
    """We wrote to you, if we know you."""

    template = "pages/sign_in_sent.html"

    @property
    def other(self) -> str:
        """Where another name can be given."""
        return _asking_page(SMS if self.is_text else MAIL)

    @classmethod
    def samples(cls) -> Mapping[str, SignInSentPage]:
        mail, number = "ada@example.com", "+44 20 7946 0018"
        said = [Outcome.SENT, Outcome.WRONG, Outcome.TOO_SOON, Outcome.TOO_MANY]
        return {
            "fresh": cls(CodeForm(), mail),
            "a moment ago": cls(CodeForm(), mail, resend_in_seconds=27),
            "to a phone": cls(CodeForm(), number, is_text=True),
            "empty": cls(sample_empty_form(), mail),
            **{outcome.value: cls(sample_filled_form(), mail, False, 21, outcome) for outcome in said},
            "token": cls(sample_filled_form().with_token_error(), mail),
        }


@dataclass(frozen=True)
class DevicePage(Page):
    """This device waits for a yes in the mailbox."""

    template = "pages/sign_in_device.html"
    scripts = (*Page.scripts, "wait", "poll")
    allows_fetch = True

    form: ButtonForm
    sent_to: str
    number: str = ""
    state: str = "waits"
    """Or approved, denied, over."""
    resend_in_seconds: int = 0
    outcome: Outcome | None = None

    @property
    def notice(self) -> Notice | None:
        if self.outcome is Outcome.TOO_SOON:
            return Notice(_l("A message is on its way"), self.wait, "note")
        return _NOTICES.get(self.outcome) if self.outcome else super().notice

    @property
    def wait(self) -> Any:
        return resend_hint(self.resend_in_seconds)

    @property
    def other(self) -> str:
        """Where it begins anew."""
        return _asking_page(DEVICE)

    @property
    def polls(self) -> str:
        """Where the script asks."""
        interaction = current_visit().interaction
        return f"{WAITING}?attempt={interaction.id}" if interaction else WAITING

    @classmethod
    def samples(cls) -> Mapping[str, DevicePage]:
        mail = "ada@example.com"
        return {
            "waits": cls(ButtonForm(), mail, "47", resend_in_seconds=27),
            "not yet": cls(ButtonForm(), mail, "47", outcome=Outcome.UNOPENED),
            "too soon": cls(ButtonForm(), mail, "47", "waits", 21, Outcome.TOO_SOON),
            "too many": cls(ButtonForm(), mail, "47", outcome=Outcome.TOO_MANY),
            "sent again": cls(ButtonForm(), mail, "47", outcome=Outcome.SENT),
            "approved": cls(ButtonForm(), mail, "47", "approved"),
            "denied": cls(ButtonForm(), mail, "47", "denied"),
            "over": cls(ButtonForm(), mail, "47", "over"),
            "token": cls(ButtonForm().with_token_error(), mail, "47"),
        }


_NOTICES: Final = {
    Outcome.UNOPENED: Notice(
        _l("Nobody has said yes yet"),
        _l("Open the link in the mail and type the number there, then go on here."),
        "note",
    ),
    Outcome.TOO_MANY: Notice(_l("That was a lot at once"), _l("Wait a few minutes, then try again.")),
    Outcome.SENT: Notice(_l("We sent another message"), _l("What was in the one before no longer works."), "ok"),
}


@pages.get("/sign-in/<way>")
def show_without_password(way: str) -> Response:
    """Draw the form; this asks nobody. What was typed at the sign-in, or the application's hint, is filled in."""
    visit = current_visit()
    if way not in visit.tenant.ways:
        return journey.redirect_to("/login")
    if journey.is_interaction_gone():
        return journey.start_again()
    known = reauthentication.current_reauthentication()
    hint = known.ways.get(way, "") if known else visit.interaction.hint if visit.interaction else ""
    if not hint and request.args.keys() <= {"attempt"}:
        return render_cached(("without password", way), lambda: _asking(AskForm.of(way, visit.tenant.identifiers), way))
    return _asking(AskForm.of(way, visit.tenant.identifiers, data={"identifier": hint}), way).render()


@pages.post("/sign-in/<way>")
def submit_without_password(way: str) -> Response:
    visit = current_visit()
    if way not in visit.tenant.ways:
        return journey.redirect_to("/login")
    if requested_interaction_id() and visit.interaction is None:
        return journey.start_again()
    form = AskForm.of(way, visit.tenant.identifiers)
    if not form.validate():
        return _asking(form, way).render(form.error_status)
    try:
        step = api()(contract.ask, form.to_request())
    except e.PasswordlessOff:
        return journey.redirect_to("/login")
    except e.TooManyRequests as refusal:
        response = _asking(form, way, RefusalReason.TOO_MANY, refusal.retry_after_seconds or 0).render(429)
        response.headers["Retry-After"] = str(refusal.retry_after_seconds or 60)
        return response
    return journey.follow(step)


@pages.get(SENT)
def show_sign_in_sent() -> Response:
    """Draw the page of an attempt that waits; one that goes on elsewhere leads there."""
    interaction = current_visit().interaction
    if interaction is None:
        return journey.start_again() if requested_interaction_id() else journey.redirect_to("/login")
    step = api()(contract.waiting, AttemptOnly(attempt=interaction.id))
    return _drawn(step, CodeForm(), Outcome.SENT if request.args.get("sent") else None, 200)


@pages.get(WAITING)
def tell_waiting() -> Response:
    """Say in a word where it stands, for the script of the page."""
    interaction = current_visit().interaction
    step = api()(contract.waiting, AttemptOnly(attempt=interaction.id)) if interaction else None
    is_waiting = step is not None and step.step is Step.SIGN_IN_SENT
    state = step.fields.get("state", "over") if step is not None and is_waiting else "over"
    return Response(state, content_type="text/plain; charset=utf-8")


@pages.post(SENT)
def submit_sign_in_sent() -> Response:
    """Take the code, go on after a yes, or send another message."""
    interaction, wish = current_visit().interaction, request.form.get("do")
    if interaction is None:
        return journey.start_again()
    form: HubForm = ButtonForm() if wish in ("again", "go") else CodeForm()
    if not form.validate():
        step = api()(contract.waiting, AttemptOnly(attempt=interaction.id))
        return _drawn(step, redisplayed(form), None, form.error_status)
    try:
        if wish == "go":
            return _gone_on(api()(contract.go_on, AttemptOnly(attempt=interaction.id)))
        if isinstance(form, CodeForm):
            typed = (form.code.data or "")[:64]
            return journey.follow(api()(contract.code, CodeRequest(attempt=interaction.id, code=typed)))
        step = api()(contract.again, AttemptOnly(attempt=interaction.id))
        return journey.follow(step, sent="again") if step.step is Step.SIGN_IN_SENT else journey.follow(step)
    except ApiError as refusal:
        return _refused(form, refusal, interaction.id)


def _asking(form: AskForm, way: str, refusal: RefusalReason | None = None, wait_seconds: int = 0) -> AskPage:
    tenant = current_visit().tenant
    takes_in = tenant.has_one_touch and way != DEVICE
    return AskPage(form, way, tenant.identifiers, tenant.has_remember_me, takes_in, refusal, wait_seconds)


def _asking_page(way: str) -> str:
    interaction = current_visit().interaction
    return (
        f"{sign_in_methods.ADDRESSES[way]}?attempt={interaction.id}" if interaction else sign_in_methods.ADDRESSES[way]
    )


def _gone_on(step: Next) -> Response:
    """Nobody said yes yet, or somebody said no: the page says so."""
    if step.step is not Step.SIGN_IN_SENT:
        return journey.follow(step)
    still = step.fields.get("state") == "waits"
    return _drawn(step, CodeForm(formdata=None), Outcome.UNOPENED if still else None, 200)


def _drawn(step: Next, form: CodeForm, outcome: Outcome | None, status: int) -> Response:
    if step.step is not Step.SIGN_IN_SENT:
        return journey.follow(step)
    name, left = step.sent_to or "", step.resend_in_seconds
    if step.problem == DEVICE:
        click = ButtonForm(formdata=None)
        shown = click.with_token_error() if form.is_token_invalid else click
        number, state = step.fields.get("number", ""), step.fields.get("state", "over")
        return DevicePage(shown, name, number, state, left, outcome).render(status)
    return SignInSentPage(form, name, step.problem == SMS, left, outcome).render(status)


def _refused(form: HubForm, refusal: ApiError, attempt: str) -> Response:
    """Whatever is wrong with a code, an account's lock among it, the page says the same, at one status."""
    is_often = isinstance(refusal, e.TooManyRequests)
    outcome = outcome_for(form, refusal) if is_often else Outcome.WRONG
    said = MailedTo.model_validate(refusal.data or {})
    if said.sent_to and said.by != DEVICE:
        page = SignInSentPage(redisplayed(form), said.sent_to, said.by == SMS, said.resend_in_seconds, outcome)
        response = page.render(429 if is_often else 403)
    else:
        step = api()(contract.waiting, AttemptOnly(attempt=attempt))
        response = _drawn(step, redisplayed(form), outcome if is_often else None, 429 if is_often else 403)
    if is_often:
        response.headers["Retry-After"] = str(refusal.retry_after_seconds or 60)
    return response
