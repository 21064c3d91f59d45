"""Forms of account pages: password confirmation, PIN, security answers; and the notice of a refused change."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self
from urllib.parse import urlencode

from flask import Response
from wtforms import Field, HiddenField, PasswordField, StringField
from wtforms.validators import InputRequired, Length, ValidationError

from app.contract import errors as e
from app.contract.credential_settings import Pins
from app.contract.hub import AccountView
from app.contract.visit import MAX_PASSWORD_CHARACTERS
from app.hub import journey
from app.hub.forms.code import ENOUGH_TEXTS
from app.hub.forms.tenant_forms import tenant_form
from app.hub.hub_form import HubForm, too_long
from app.hub.locale import lazy_gettext as _l
from app.hub.page import Notice
from app.hub.visit import current_visit
from app.kit.errors import ApiError

NEEDED: Final = "1"


class PasswordConfirmationForm(HubForm):
    """A form that requires the password if the last authentication is too old; `asks` keeps that state."""

    own_fields: ClassVar[tuple[str, ...]] = ()
    """Names of the text fields above the password."""
    asks = HiddenField()
    account = HiddenField()
    """The username for password managers."""
    password = PasswordField(_l("Your password"), render_kw={"autocomplete": "current-password"})

    def validate_password(self, field: Field) -> None:
        """Refuse what no visit can carry."""
        if len(field.data or "") > MAX_PASSWORD_CHARACTERS:
            raise ValidationError(too_long(MAX_PASSWORD_CHARACTERS))

    @property
    def first_fields(self) -> tuple[str, ...]:
        return (*self.own_fields, *(("password",) if self.requires_password else ()))

    @property
    def requires_password(self) -> bool:
        return self.asks.data == NEEDED

    def require_password(self) -> None:
        self.asks.data = NEEDED

    @property
    def current_password(self) -> str | None:
        return self.password.data or None

    def add_refusal(self, refusal: ApiError) -> bool:
        """Add the error of a missing or wrong password; return whether the refusal is one."""
        if isinstance(refusal, e.WrongCurrentPassword):
            self.is_first_prompt = not self.requires_password
            self.require_password()
            if not self.is_first_prompt:
                self.add_error("password", _WRONG if self.current_password else _MISSING)
            return True
        return False


_WRONG: Final = _l("Wrong password.")


def confirmation_data(view: AccountView) -> dict[str, str]:
    """Return the initial values of a form that may require the password."""
    return {"asks": NEEDED if view.needs_password else "", "account": view.person.label}


def require_confirmation(view: AccountView, landing: str) -> Response | None:
    """Redirect to the confirmation page if a password in the form does not suffice; return None if none is needed."""
    return redirect_to_confirmation(landing) if view.must_confirm else None


def redirect_to_confirmation(landing: str) -> Response:
    """Redirect to the confirmation page, which continues at `landing`; at once if the authentication is recent."""
    return journey.redirect_to(f"/confirm?{urlencode({'next': landing})}")


_MISSING: Final = _l("Enter your password.")


def refusal_notice(refusal: ApiError) -> Notice:
    """Return the notice of a refusal that belongs to no field."""
    return next((notice for kind, notice in _NOTICES.items() if isinstance(refusal, kind)), _FAILED)


_LOCKED: Final = Notice(_l("Too many attempts"), _l("Changes are locked for now. Try again later."))
_FAILED: Final = Notice(_l("Something went wrong"), _l("Nothing was changed. Try again, or get help."))
_NOTICES: Final[dict[type[ApiError], Notice]] = {
    e.LockedForAWhile: _LOCKED,
    e.LockedForCaptcha: _LOCKED,
    e.LockedForSecurityQuestion: _LOCKED,
    e.AccountBlocked: _LOCKED,
    e.MailLimitReached: Notice(
        _l("Too many emails"),
        _l("Check your spam folder, or try again in an hour."),
    ),
    e.SmsLimitReached: ENOUGH_TEXTS,
    e.SharedSmsLimitReached: ENOUGH_TEXTS,
    e.NoSmsConfiguration: Notice(
        _l("We can’t send text messages right now"), _l("Nothing was changed. Try again later.")
    ),
    e.EmailNotAddable: Notice(
        _l("Verify your email first"),
        _l("Verify your current email before adding another one."),
    ),
    e.EmailUpdateRefused: Notice(
        _l("You’ve reached the email address limit"), _l("First, remove one you no longer use.")
    ),
    e.LastEmail: Notice(_l("This is your only email address"), _l("Add another one before removing this one.")),
    e.PrivacyPolicyOutdated: Notice(_l("Our privacy notice has changed"), _l("Sign in again to accept it.")),
}


def text_of(value: Any) -> str:
    """Return a profile value as a field's text."""
    return value if isinstance(value, str) else ""


class _RequiredUnlessSkipped(InputRequired):
    """Requires the field, except in a form that skips it."""

    def __call__(self, form: Any, field: Field) -> None:
        if not form.is_skipped:
            super().__call__(form, field)


class PinForm(PasswordConfirmationForm):
    """A new PIN, with the password if required. `one-time-code` keeps password managers from storing the PIN."""

    own_fields = ("pin",)
    is_skipped = False
    """Whether the sign-in continues without a PIN."""
    pin = PasswordField(
        _l("New PIN"),
        [_RequiredUnlessSkipped(_l("Choose a PIN."))],
        render_kw={"autocomplete": "one-time-code", "inputmode": "numeric", "dir": "ltr"},
    )

    def add_refusal(self, refusal: ApiError) -> bool:
        """Add the refusal to its field; return whether it belongs to one."""
        if isinstance(refusal, e.BadParameter):
            rules, digits = current_visit().tenant.pin, sum(item.isdigit() for item in self.pin.data or "")
            is_long_enough = rules.min_length <= digits <= rules.max_length
            self.add_error("pin", _easy_pin(rules) if is_long_enough else _pin_length(rules))
            return True
        return super().add_refusal(refusal)


def _easy_pin(rules: Pins) -> Any:
    if rules.min_length == rules.max_length:
        return _l("Too easy to guess. Use %(num)s digits, nothing like 1111 or 1234.", num=rules.min_length)
    return _l(
        "Too easy to guess. Use %(least)s to %(most)s digits, nothing like 1111 or 1234.",
        least=rules.min_length,
        most=rules.max_length,
    )


def _pin_length(rules: Pins) -> Any:
    if rules.min_length == rules.max_length:
        return _l("Use %(num)s digits.", num=rules.min_length)
    return _l("Use %(least)s to %(most)s digits.", least=rules.min_length, most=rules.max_length)


def pin_hint(rules: Pins) -> Any:
    """Return the rules of a PIN as text."""
    if rules.min_length == rules.max_length:
        return _l("%(num)s digits, nothing like 1111 or 1234.", num=rules.min_length)
    return _l(
        "%(least)s to %(most)s digits, nothing like 1111 or 1234.",
        least=rules.min_length,
        most=rules.max_length,
    )


Questions = tuple[tuple[str, str], ...]


class SecurityAnswersForm(HubForm):
    """A form with a field per question, built as a subclass by `of`."""

    questions: ClassVar[Questions] = ()

    @classmethod
    def of(cls, questions: Questions, **provided: Any) -> Self:
        """Return the form with these questions."""

        def members() -> dict[str, Any]:
            widgets = {
                f"answer_{at}": StringField(
                    text,
                    [Length(max=500, message=too_long(500))],
                    render_kw={"autocomplete": "off", "dir": "auto"},
                )
                for at, (_, text) in enumerate(questions)
            }
            return {**widgets, "questions": questions}

        return tenant_form(cls, (), members, questions)(**provided)

    @property
    def rows(self) -> list[Any]:
        return [self[f"answer_{at}"] for at in range(len(self.questions))]

    @property
    def typed(self) -> dict[str, str]:
        """The answers by question id."""
        return {question: self[f"answer_{at}"].data or "" for at, (question, _) in enumerate(self.questions)}
