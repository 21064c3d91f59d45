"""What the pages of an account share: who is signed in, the password that may be asked again, and why a change is refused."""

from __future__ import annotations

from typing import Any, Final, Protocol
from urllib.parse import urlencode

from flask import Response
from flask_babel import lazy_gettext as _l
from wtforms import HiddenField, PasswordField

from app.contract import errors as e
from app.contract.hub import PersonView
from app.hub import journey
from app.hub.forms.base import HubForm
from app.hub.forms.code import ENOUGH_TEXTS
from app.hub.page import Notice
from app.kit.errors import ApiError

NEEDED: Final = "1"


class PasswordConfirmationForm(HubForm):
    """A form that asks the password again where the last proof is too old: `asks` says so, and stays when it is drawn anew."""

    asks = HiddenField()
    account = HiddenField()
    """Whose password it is, for password managers."""
    password = PasswordField(_l("Your password"), render_kw={"autocomplete": "current-password"})

    @property
    def requires_password(self) -> bool:
        return self.asks.data == NEEDED

    def require_password(self) -> None:
        self.asks.data = NEEDED

    @property
    def proof(self) -> str | None:
        return self.password.data or None

    def add_refusal(self, refusal: ApiError) -> bool:
        """Lay a refused password on its field; returns whether that is what was refused."""
        if isinstance(refusal, e.WrongCurrentPassword):
            self.is_first_prompt = not self.requires_password
            self.require_password()
            if not self.is_first_prompt:
                self.add_error("password", _WRONG if self.proof else _MISSING)
            return True
        return False


_WRONG: Final = _l("That is not your password.")


class ConfirmationState(Protocol):
    """Who is asked for a proof, and whether it is."""

    @property
    def person(self) -> PersonView: ...
    @property
    def must_confirm(self) -> bool: ...
    @property
    def needs_password(self) -> bool: ...


def confirmation_data(known: ConfirmationState) -> dict[str, str]:
    """Return what a form that may ask the password begins with."""
    return {"asks": NEEDED if known.needs_password else "", "account": known.person.label}


def require_confirmation(known: ConfirmationState, landing: str) -> Response | None:
    """Return the way to the page that asks whoever has to prove who they are, where a password in a form is none or not
    enough; None for all others.
    """
    return redirect_to_confirmation(landing) if known.must_confirm else None


def redirect_to_confirmation(landing: str) -> Response:
    """Return the way to the page that asks who it is, and then goes on; whoever proved it a moment ago goes straight on."""
    return journey.redirect_to(f"/confirm?{urlencode({'next': landing})}")


_MISSING: Final = _l("Enter your password.")


def refusal_notice(refusal: ApiError) -> Notice:
    """What a page says of a refusal that belongs to no field."""
    return next((notice for kind, notice in _NOTICES.items() if isinstance(refusal, kind)), _FAILED)


_LOCKED: Final = Notice(_l("Too many tries"), _l("Changes are paused to protect this account. Try again later."))
_FAILED: Final = Notice(_l("That did not work"), _l("Nothing was changed. Try again, or ask for help."))
_NOTICES: Final[dict[type[ApiError], Notice]] = {
    e.LockedForAWhile: _LOCKED,
    e.LockedForCaptcha: _LOCKED,
    e.LockedForSecurityQuestion: _LOCKED,
    e.AccountBlocked: _LOCKED,
    e.MailLimitReached: Notice(
        _l("That is enough mail for now"),
        _l("We sent as many as we may. Look in your spam folder too, or come back in an hour."),
    ),
    e.SmsLimitReached: ENOUGH_TEXTS,
    e.SharedSmsLimitReached: ENOUGH_TEXTS,
    e.NoSmsConfiguration: Notice(_l("We cannot send text messages now"), _l("Nothing was changed. Try again later.")),
    e.EmailNotAddable: Notice(
        _l("Confirm your address first"),
        _l("The address that you have is not confirmed yet. Then you can add another one."),
    ),
    e.EmailUpdateRefused: Notice(
        _l("That is as many addresses as may be"), _l("Remove one that you no longer use first.")
    ),
    e.LastEmail: Notice(_l("This is your only address"), _l("Add another one first. Then you can remove it.")),
    e.PrivacyPolicyOutdated: Notice(
        _l("The privacy policy has changed"), _l("Sign in again and accept it. Then you can go on here.")
    ),
}


def text_of(value: Any) -> str:
    """Return a value of the profile as a field holds it."""
    return value if isinstance(value, str) else ""
