"""Forgotten password, forgotten PIN: who are you; then the page that says where to look, and takes the code.

Nothing here differs between a name that somebody has and one that nobody has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from flask import Response, request
from flask_babel import lazy_gettext as _l

from app.contract import errors as e
from app.contract import hub_recovery as contract
from app.contract.hub import Next, Step
from app.hub import journey
from app.hub.forms.base import HubForm
from app.hub.forms.code import (
    ButtonForm,
    CodeForm,
    CodePage,
    Outcome,
    outcome_for,
    redisplayed,
    sample_empty_form,
    sample_filled_form,
)
from app.hub.forms.identifier import IdentifierForm, identifier_attributes
from app.hub.page import Notice, Page, render_cached
from app.hub.pages import pages
from app.hub.parts import reauthentication
from app.hub.parts.sign_in_refusals import RefusalReason, sign_in_notice
from app.hub.services import api
from app.hub.tenancy import Identifier
from app.hub.visit import current_visit, requested_interaction_id
from app.kit.errors import ApiError

CLOSED: Final = "closed"
"""In the address of that page: it follows on an alarm, which closed the account to others."""


@dataclass(frozen=True)
class Forgotten:
    """What somebody forgot, and where its pages are."""

    name: Literal["password", "pin"]
    address: str
    step: Step

    @property
    def sent(self) -> str:
        return f"{self.address}/sent"


PASSWORD: Final = Forgotten("password", "/forgot-password", Step.RESET_SENT)
PIN: Final = Forgotten("pin", "/forgot-pin", Step.PIN_SENT)
_OF: Final[dict[str, Forgotten]] = {one.name: one for one in (PASSWORD, PIN)}


class ForgotForm(IdentifierForm):
    """Whose it is."""

    lost = PASSWORD

    def to_request(self) -> contract.ForgotRequest:
        interaction = current_visit().interaction
        typed = self.identifier.data or ""
        return contract.ForgotRequest(
            attempt=interaction.id if interaction else None, identifier=typed, of=self.lost.name
        )

    @classmethod
    def of(cls, identifiers: tuple[Identifier, ...], lost: Forgotten = PASSWORD, **given: Any) -> ForgotForm:
        """Return the form for what a tenant's people may be named by."""
        form = cls(**given).accept_identifiers(identifiers)
        form.lost = lost
        return form


@dataclass(frozen=True)
class ForgotPage(Page):
    """Who are you?"""

    template = "pages/forgot.html"

    form: ForgotForm
    identifiers: tuple[Identifier, ...] = (Identifier.EMAIL,)
    refusal: RefusalReason | None = None
    wait_seconds: int = 0
    of: Forgotten = PASSWORD
    has_questions: bool = False
    """Whether answers to security questions do it, too."""

    @property
    def notice(self) -> Notice | None:
        return sign_in_notice(self.refusal, self.wait_seconds) if self.refusal else super().notice

    @property
    def attributes(self) -> dict[str, str]:
        """What tells keyboards and password managers what the identifier is."""
        return identifier_attributes(self.identifiers)

    @classmethod
    def samples(cls) -> Mapping[str, ForgotPage]:
        email, phone, username = Identifier.EMAIL, Identifier.PHONE, Identifier.USERNAME
        given: dict[str, Any] = {"data": {"identifier": "ada@example.com"}}
        empty = ForgotForm.of((email,))
        empty.add_error("identifier", _l("Enter your email."))
        return {
            "fresh": cls(ForgotForm.of((email,))),
            "filled in": cls(ForgotForm.of((email,), **given)),
            "by phone": cls(ForgotForm.of((phone,)), (phone,)),
            "by any name": cls(ForgotForm.of((email, phone, username)), (email, phone, username)),
            "empty": cls(empty),
            "a PIN": cls(ForgotForm.of((email,)), of=PIN),
            "a PIN, with questions": cls(ForgotForm.of((email,), **given), of=PIN, has_questions=True),
            "too many": cls(ForgotForm.of((email,), **given), refusal=RefusalReason.TOO_MANY, wait_seconds=50),
            "token": cls(ForgotForm.of((email,), **given).with_token_error()),
        }


@dataclass(frozen=True)
class ResetSentPage(CodePage):
    """We wrote to you, if we know you."""

    template = "pages/reset_sent.html"
    query = {**CodePage.query, CLOSED: 1}

    of: Forgotten = PASSWORD

    @property
    def is_known(self) -> bool:
        """Whether the account is known to whoever reads this: they took it back a moment ago."""
        return self.outcome is Outcome.CLOSED

    @classmethod
    def samples(cls) -> Mapping[str, ResetSentPage]:
        mail, number = "ada@example.com", "+44 20 7946 0018"
        said = [Outcome.SENT, Outcome.WRONG, Outcome.TOO_SOON, Outcome.TOO_MANY, Outcome.CLOSED]
        return {
            "fresh": cls(CodeForm(), mail),
            "a moment ago": cls(CodeForm(), mail, resend_in_seconds=27),
            "to a username": cls(CodeForm(), "ada"),
            "to a phone": cls(CodeForm(), number, is_text=True),
            "a PIN": cls(CodeForm(), mail, of=PIN),
            "a PIN, to a phone": cls(CodeForm(), number, is_text=True, of=PIN),
            "empty": cls(sample_empty_form(), mail),
            **{outcome.value: cls(sample_filled_form(), mail, False, 21, outcome) for outcome in said},
            "token": cls(sample_filled_form().with_token_error(), mail),
        }


@pages.get(PASSWORD.address, defaults={"of": PASSWORD.name})
@pages.get(PIN.address, defaults={"of": PIN.name})
def show_forgot(of: str) -> Response:
    """Draw the form; this asks nobody. What was typed at the sign-in, or the application's hint, is filled in."""
    visit, lost = current_visit(), _OF[of]
    if lost is PIN and not visit.tenant.pin.is_on:
        return journey.redirect_to("/login")
    if journey.is_interaction_gone():
        return journey.start_again()
    known = reauthentication.current_reauthentication()
    hint = known.name or known.account if known else visit.interaction.hint if visit.interaction else ""
    if not hint and request.args.keys() <= {"attempt"}:
        return render_cached(("forgot", of), lambda: _forgot(ForgotForm.of(visit.tenant.identifiers, lost)))
    return _forgot(ForgotForm.of(visit.tenant.identifiers, lost, data={"identifier": hint})).render()


@pages.post(PASSWORD.address, defaults={"of": PASSWORD.name})
@pages.post(PIN.address, defaults={"of": PIN.name})
def submit_forgot(of: str) -> Response:
    visit = current_visit()
    if requested_interaction_id() and visit.interaction is None:
        return journey.start_again()
    form = ForgotForm.of(visit.tenant.identifiers, _OF[of])
    if not form.validate():
        return _forgot(form).render(form.error_status)
    try:
        step = api()(contract.forgot, form.to_request())
    except e.PinOff:
        return journey.redirect_to("/login")
    except e.TooManyRequests as refusal:
        response = _forgot(form, RefusalReason.TOO_MANY, refusal.retry_after_seconds or 0).render(429)
        response.headers["Retry-After"] = str(refusal.retry_after_seconds or 60)
        return response
    return journey.follow(step)


@pages.get(PASSWORD.sent, defaults={"of": PASSWORD.name})
@pages.get(PIN.sent, defaults={"of": PIN.name})
def show_sent(of: str) -> Response:
    """Draw the page of an attempt that waits; one that goes on elsewhere leads there."""
    interaction = current_visit().interaction
    if interaction is None:
        return journey.start_again() if requested_interaction_id() else journey.redirect_to(_OF[of].address)
    step = api()(contract.recovery, contract.AttemptOnly(attempt=interaction.id))
    if step.step is not _OF[of].step:
        return journey.follow(step)
    outcome = Outcome.SENT if request.args.get("sent") else Outcome.CLOSED if request.args.get(CLOSED) else None
    return _sent(CodeForm(), step, outcome).render()


@pages.post(PASSWORD.sent, defaults={"of": PASSWORD.name})
@pages.post(PIN.sent, defaults={"of": PIN.name})
def submit_sent(of: str) -> Response:
    """Take the code, or send another message: of what the attempt waits for, whichever of the pages asks."""
    interaction = current_visit().interaction
    if interaction is None:
        return journey.start_again()
    wants_another = request.form.get("do") == "again"
    form = ButtonForm() if wants_another else CodeForm()
    if not form.validate():
        return _drawn_again(form, interaction.id)
    try:
        if isinstance(form, CodeForm):
            typed = (form.code.data or "")[:64]
            return journey.follow(api()(contract.reset_code, contract.CodeRequest(attempt=interaction.id, code=typed)))
        step = api()(contract.again, contract.AttemptOnly(attempt=interaction.id))
        return journey.follow(step, sent="again") if step.step is _OF[of].step else journey.follow(step)
    except ApiError as refusal:
        return _refused(form, refusal, interaction.id)


def _forgot(form: ForgotForm, refusal: RefusalReason | None = None, wait_seconds: int = 0) -> ForgotPage:
    tenant = current_visit().tenant
    has_questions = form.lost is PIN and bool(tenant.every_question)
    return ForgotPage(form, tenant.identifiers, refusal, wait_seconds, form.lost, has_questions)


def _sent(form: CodeForm, step: Next, said: Outcome | None = None) -> ResetSentPage:
    of = PIN if step.step is Step.PIN_SENT else PASSWORD
    return ResetSentPage(form, step.sent_to or "", step.problem == "sms", step.resend_in_seconds, said, of)


def _drawn_again(form: HubForm, attempt: str, said: Outcome | None = None, status: int = 0) -> Response:
    step = api()(contract.recovery, contract.AttemptOnly(attempt=attempt))
    if step.step not in (Step.RESET_SENT, Step.PIN_SENT):
        return journey.follow(step)
    return _sent(redisplayed(form), step, said).render(status or form.error_status)


def _refused(form: HubForm, refusal: ApiError, attempt: str) -> Response:
    """Whatever is wrong with a code, an account's lock among it, the page says the same, at one status."""
    if not isinstance(refusal, e.TooManyRequests):
        return _drawn_again(form, attempt, Outcome.WRONG, 403)
    response = _drawn_again(form, attempt, outcome_for(form, refusal), 429)
    response.headers["Retry-After"] = str(refusal.retry_after_seconds or 60)
    return response
