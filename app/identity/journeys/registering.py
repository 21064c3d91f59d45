"""Registration on our page: the same rules as by the operations, but the answer never tells who has an account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.contract import hub_registration as contract
from app.contract.accounts import EmailEntry, PinInfo
from app.contract.captcha import Lock
from app.contract.hub import Next, Step
from app.contract.registration_form import CUSTOM, TERMS, FormField
from app.identity.accounts import identifiers
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.journeys import awaiting, checking, entering
from app.identity.journeys import next as journey
from app.identity.registration import service as registration
from app.identity.registration.service import Ask, Outcome
from app.identity.second_factors import service as factors
from app.identity.sign_in import attempts, sessions
from app.identity.sign_in import service as sign_in
from app.identity.sign_in.attempts import Attempt, Drawn
from app.identity.sign_in.second_factor import Way
from app.identity.tenants import registration_form, whitelist
from app.identity.verification.service import Wish
from app.kit.errors import ApiError
from app.kit.server import Server

COMPLETED = "register"


def register(server: Server) -> None:
    """Implement the operation."""
    server.implements(contract.register)(submit)


@dataclass
class Typed:
    """What was typed into the form of a page, as the registration model."""

    form: tuple[FormField, ...]
    fields: dict[str, str]
    country: str | None
    email: list[EmailEntry] | None = None
    user_name: str | None = None
    phone_id: str | None = None
    uid: str | None = None
    password: str | None = None
    security_question_answer: dict[str, str] | None = None
    pin_info: PinInfo | None = None  # a step of its own

    def __post_init__(self) -> None:
        address = self.said("email")
        self.email = [EmailEntry(type="Primary", value=address)] if address else None
        self.user_name = self.said("username") or None
        self.phone_id = identifiers.international(self.said("phone"), self.country) or None
        self.password = self.fields.get("password") or None

    def said(self, name: str) -> str:
        """Return what stands in a field, without the spaces around it."""
        return self.fields.get(name, "").strip()

    @property
    def free(self) -> dict[str, Any]:
        """What fills the free profile: only what the form has, and only where something was typed."""
        given = [(field, text) for field in self.form if (text := self.said(field.name))]
        free: dict[str, Any] = {field.member: text for field, text in given if field.member}
        custom = {field.name.removeprefix(CUSTOM): text for field, text in given if field.is_custom}
        return {**free, "CustomFields": custom} if custom else free


def submit(call: Call, req: contract.RegisterRequest) -> Next:
    """Register within an attempt or without one: onward with a session, or to the page that says to look into the mail."""
    attempt = attempts.find(call, req.attempt) if req.attempt else None
    if req.attempt and attempt is None:
        return journey.START_AGAIN
    if attempt is not None and attempt.is_done:
        return journey.after_the_end(sessions.current(call))
    registration.refuse_off(call)
    form = registration_form.of(call.tenant.settings)
    asked = {field.name for field in form}
    typed = Typed(
        form, {name: text for name, text in req.fields.items() if name in asked}, call.tenant.settings.default_country
    )
    own = attempts.draw()  # where nobody asked: the mail names this browser all the same, as its proof shows one person
    ask = Ask(
        Wish(attempt=attempt.attempt_id if attempt else own.attempt_id),
        source=f"{call.issuer}/register",
        accepts_terms=bool(typed.fields.get(TERMS)) if TERMS in asked else None,
        hides_taken=True,
    )
    drafted = registration.draft(call, typed, ask)
    if not call.tenant.settings.registration_captcha:
        return _onward(call, attempt or own, typed, registration.register(call, drafted, ask))
    captcha.demand(call, captcha.of_form(req.captcha))
    try:
        return _onward(call, attempt or own, typed, registration.register(call, drafted, ask))
    except ApiError as refusal:  # this captcha is used up: the page asks another one with what it says
        refusal.data = {**(refusal.data or {}), **Lock(captcha=captcha.challenge(call)).told()}
        raise


def _onward(call: Call, begun: Attempt | Drawn, typed: Typed, outcome: Outcome) -> Next:
    attempt = begun if isinstance(begun, Attempt) else None
    if outcome.account is None or not outcome.may_sign_in:
        if isinstance(begun, Attempt) or not outcome.waits_for:
            return _waiting(call, attempt, typed, outcome)
        own, binding = attempts.open(call, journey.RETURN, {}, begun)
        return _waiting(call, own, typed, outcome).model_copy(update={"binding": binding})
    wanted = factors.wanted(call, outcome.account)
    return entering.onward(call, attempt, outcome.account, Way((sign_in.PASSWORD,)), wanted)


def _waiting(call: Call, attempt: Attempt | None, typed: Typed, outcome: Outcome) -> Next:
    """Where nobody is signed in yet: back to a return address that says so itself (hosted-pages.md section 3), else our page."""
    wanted = attempt.request.get("return_url") if attempt is not None and attempt.kind == journey.RETURN else None
    if attempt is not None and wanted and whitelist.is_allowed(call, wanted):
        attempts.finish(call, attempt)
        return Next(step=Step.REDIRECT, address=whitelist.with_query(wanted, action_completed=COMPLETED))
    if outcome.waits_for == "email":
        known, held = outcome.password_hash, outcome.held
        return checking.begin(
            call, attempt, typed.said("email"), outcome.account, is_sent=True, password_hash=known, held=held
        )
    if outcome.waits_for == "phone":
        number, account, known, held = typed.phone_id or "", outcome.account, outcome.password_hash, outcome.held
        return checking.begin(
            call, attempt, number, account, is_sent=True, password_hash=known, by=awaiting.SMS, held=held
        )
    return Next(step=Step.LOGIN, attempt=attempt.attempt_id if attempt else None)
