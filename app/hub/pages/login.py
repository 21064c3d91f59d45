"""Sign in: who are you, and your password."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from flask import Response, request
from flask_babel import lazy_gettext as _l
from flask_babel import lazy_ngettext as _n
from wtforms import BooleanField, PasswordField, StringField
from wtforms.validators import InputRequired

from app.contract import errors as e
from app.contract import hub as contract
from app.contract.hub import Step
from app.hub import journey, visit
from app.hub.arrival import api, named_attempt, workings
from app.hub.forms import HubForm
from app.hub.page import Notice, Page, drawn_once
from app.hub.pages import pages
from app.hub.tenancy import Identifier
from app.kit.errors import ApiError


class Refusal(StrEnum):
    """Why a sign-in went no further, as far as its page can say."""

    WRONG = "wrong"
    SUSPENDED = "suspended"
    CAPTCHA = "captcha"
    QUESTION = "question"
    BLOCKED = "blocked"
    DISABLED = "disabled"
    UNVERIFIED = "unverified"
    TOO_MANY = "too many"
    TOKEN = "token"
    SESSIONS = "sessions"


class LoginForm(HubForm):
    """The identifier is one field, whatever the tenant lets people be named by."""

    identifier = StringField(_l("Email"), [InputRequired(_l("Enter your email."))])
    password = PasswordField(_l("Password"), [InputRequired(_l("Enter your password."))])
    remember = BooleanField(_l("Keep me signed in on this device"))

    def to_request(self) -> contract.SignInRequest:
        attempt = visit.current().attempt
        return contract.SignInRequest(
            attempt=attempt.id if attempt else None,
            identifier=self.identifier.data or "",
            password=self.password.data or "",
            remember=bool(self.remember.data),
        )

    @classmethod
    def of(cls, identifiers: tuple[Identifier, ...], **given: Any) -> LoginForm:
        """Return the form for what a tenant's people may be named by."""
        form = cls(**given)
        label, missing = _naming(frozenset(identifiers))
        form.identifier.label.text = label
        form.identifier.validators = [InputRequired(missing)]
        return form


def _naming(identifiers: frozenset[Identifier]) -> tuple[Any, Any]:
    """The label of the identifier field, and what is said when it is empty."""
    email, phone, username = Identifier.EMAIL, Identifier.PHONE, Identifier.USERNAME
    names = {
        frozenset({email}): (_l("Email"), _l("Enter your email.")),
        frozenset({phone}): (_l("Phone number"), _l("Enter your phone number.")),
        frozenset({username}): (_l("Username"), _l("Enter your username.")),
        frozenset({email, phone}): (_l("Email or phone number"), _l("Enter your email or phone number.")),
        frozenset({email, username}): (_l("Email or username"), _l("Enter your email or username.")),
        frozenset({phone, username}): (_l("Phone number or username"), _l("Enter your phone number or username.")),
    }
    all_three = (_l("Email, phone number or username"), _l("Enter your email, phone number or username."))
    return names.get(identifiers, all_three)


@dataclass(frozen=True)
class LoginPage(Page):
    """Sign in."""

    template = "pages/login.html"
    scripts = (*Page.scripts, "reveal")

    form: LoginForm
    identifiers: tuple[Identifier, ...] = (Identifier.EMAIL,)
    relying_party: str = ""
    has_remember_me: bool = True
    refusal: Refusal | None = None
    wait_seconds: int = 0
    """How long until another try is worth while, where that is known."""

    @property
    def help(self) -> str:
        """Where the tenant helps people."""
        return dict(visit.current().tenant.brand.links).get("help", "")

    @property
    def needs_help(self) -> bool:
        """Whether nothing that can be typed here leads on."""
        return self.refusal in _BEYOND_THIS_PAGE

    @property
    def notice(self) -> Notice | None:
        return refused(self.refusal, self.wait_seconds) if self.refusal else None

    @property
    def attributes(self) -> dict[str, str]:
        """What tells keyboards and password managers what the identifier is."""
        common = {"autocomplete": "username", "spellcheck": "false"}
        if self.identifiers == (Identifier.EMAIL,):
            return {**common, "type": "email"}
        if self.identifiers == (Identifier.PHONE,):
            return {**common, "type": "text", "inputmode": "tel", "dir": "ltr"}
        return {**common, "type": "text", "autocapitalize": "none", "dir": "auto"}

    @classmethod
    def samples(cls) -> Mapping[str, LoginPage]:
        email, phone, username = Identifier.EMAIL, Identifier.PHONE, Identifier.USERNAME
        given = {"data": {"identifier": "ada@example.com"}}
        refusals = {refusal.value: refusal for refusal in Refusal}
        empty = LoginForm.of((email,))
        empty.refuse("identifier", _l("Enter your email."))
        empty.refuse("password", _l("Enter your password."))
        return {
            "fresh": cls(LoginForm.of((email,))),
            "for an application": cls(LoginForm.of((email,)), relying_party="Acme Shop"),
            "with a hint": cls(LoginForm.of((email,), **given), relying_party="Acme Shop"),
            "by phone": cls(LoginForm.of((phone,)), (phone,)),
            "by any name": cls(LoginForm.of((email, phone, username)), (email, phone, username)),
            "without remember me": cls(LoginForm.of((email,)), has_remember_me=False),
            "empty": cls(empty, relying_party="Acme Shop"),
            **{
                name: cls(LoginForm.of((email,), **given), relying_party="Acme Shop", refusal=refusal, wait_seconds=840)
                for name, refusal in refusals.items()
            },
        }


def refused(refusal: Refusal, wait_seconds: int) -> Notice:
    """Return what the page says of a refusal: what happened, and what to do next."""
    if refusal is Refusal.SUSPENDED:
        return Notice(
            _l("Too many tries"), _l("Sign-in is paused to protect this account. %(again)s", again=_again(wait_seconds))
        )
    if refusal is Refusal.TOO_MANY:
        return Notice(_l("That was a lot at once"), _again(wait_seconds))
    return _NOTICES[refusal]


def _again(wait_seconds: int) -> Any:
    """When the next try is worth while, rounded up so that it is never too early."""
    minutes = -(-wait_seconds // 60)
    if wait_seconds <= 0:
        return _l("Try again later.")
    if wait_seconds <= 90:
        return _n("Try again in %(num)d second.", "Try again in %(num)d seconds.", wait_seconds)
    if minutes <= 90:
        return _n("Try again in %(num)d minute.", "Try again in %(num)d minutes.", minutes)
    return _n("Try again in %(num)d hour.", "Try again in %(num)d hours.", -(-minutes // 60))


_BEYOND_THIS_PAGE: Final = frozenset({Refusal.CAPTCHA, Refusal.QUESTION, Refusal.BLOCKED, Refusal.DISABLED})

_NOTICES: Final = {
    Refusal.WRONG: Notice(_l("That did not work"), _l("Check both fields, then try again.")),
    Refusal.CAPTCHA: Notice(
        _l("Sign-in is locked"), _l("There were too many tries. Ask for help to have this account unlocked.")
    ),
    Refusal.QUESTION: Notice(
        _l("Sign-in is locked"), _l("There were too many tries. Your security question has to be answered first.")
    ),
    Refusal.BLOCKED: Notice(
        _l("This account is blocked"), _l("Only the people who run this service can open it again.")
    ),
    Refusal.DISABLED: Notice(
        _l("This account is switched off"), _l("Ask the people who run this service to switch it on.")
    ),
    Refusal.UNVERIFIED: Notice(
        _l("Confirm your address first"),
        _l("Open the message we sent you when you signed up, then sign in here."),
        "note",
    ),
    Refusal.TOKEN: Notice(
        _l("Please send that once more"),
        _l("We could not be sure that it came from this page. Cookies have to be allowed for it to work."),
        "note",
    ),
    Refusal.SESSIONS: Notice(
        _l("You are signed in at too many places"), _l("Sign out somewhere else first, then sign in here.")
    ),
}


_REFUSALS: Final[dict[type[ApiError], Refusal]] = {
    e.AccountBlocked: Refusal.BLOCKED,
    e.LoginDisabled: Refusal.DISABLED,
    e.LoginNotAllowed: Refusal.DISABLED,
    e.EmailUnverified: Refusal.UNVERIFIED,
    e.PhoneUnverified: Refusal.UNVERIFIED,
    e.LockedForAWhile: Refusal.SUSPENDED,
    e.LockedForCaptcha: Refusal.CAPTCHA,
    e.WrongCaptcha: Refusal.CAPTCHA,
    e.LockedForSecurityQuestion: Refusal.QUESTION,
    e.TooManySessions: Refusal.SESSIONS,
    e.TooManyRequests: Refusal.TOO_MANY,
}
"""Whatever is not named here says no more than that it did not work."""


@pages.get("/login")
def show_login() -> Response:
    """Draw the page. Who is signed in already goes on; for all others this asks nobody."""
    here = visit.current()
    if named_attempt() and here.attempt is None:
        return journey.start_again()
    if here.attempt and here.attempt.lives_until <= workings().now():
        return journey.start_again()
    known = ""
    if here.session:
        step = (
            api()(contract.resume, contract.AttemptRequest(attempt=here.attempt.id)) if here.attempt else _plain_visit()
        )
        if step.step is not Step.LOGIN:
            return journey.follow(step)
        here.meet(step.person)
        known = step.person.label if step.person else ""  # signed in, but asked for the password again
    asking, hint = (here.attempt.relying_party, here.attempt.hint or known) if here.attempt else ("", "")
    if not hint and request.args.keys() <= {"attempt"}:
        return drawn_once(("login", asking), lambda: _page(LoginForm.of(here.tenant.identifiers)))
    return _page(LoginForm.of(here.tenant.identifiers, data={"identifier": hint})).render()


@pages.post("/login")
def submit_login() -> Response:
    here = visit.current()
    if named_attempt() and here.attempt is None:
        return journey.start_again()
    form = LoginForm.of(here.tenant.identifiers)
    if not form.validate():
        return _page(form, Refusal.TOKEN if form.is_token_refused else None).render(form.refusal_status)
    try:
        step = api()(contract.sign_in, form.to_request())
    except ApiError as refusal:
        return _refused(form, refusal)
    return journey.follow(step)


def _plain_visit() -> contract.Next:
    return api()(contract.open_return, contract.ReturnRequest())


def _page(form: LoginForm, refusal: Refusal | None = None, wait_seconds: int = 0) -> LoginPage:
    here = visit.current()
    asking = here.attempt.relying_party if here.attempt else ""
    return LoginPage(form, here.tenant.identifiers, asking, here.tenant.has_remember_me, refusal, wait_seconds)


def _refused(form: LoginForm, refusal: ApiError) -> Response:
    reason = next((reason for kind, reason in _REFUSALS.items() if isinstance(refusal, kind)), Refusal.WRONG)
    response = _page(form, reason, _wait_seconds(refusal)).render(refusal.status)
    if refusal.retry_after_seconds:
        response.headers["Retry-After"] = str(refusal.retry_after_seconds)
    return response


def _wait_seconds(refusal: ApiError) -> int:
    """How long until another try is worth while, from either place where the service says so."""
    until = (refusal.data or {}).get("LoginLockedTimeout")
    if isinstance(until, str):
        return max(0, int(datetime.fromisoformat(until).timestamp()) - workings().now())
    return refusal.retry_after_seconds or 0
