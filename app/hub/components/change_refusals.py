"""The notice of a refused change that belongs to no field."""

from __future__ import annotations

from typing import Final, Protocol

from app.contract import errors as e
from app.hub.forms.code import ENOUGH_TEXTS
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.page import Notice
from app.kit.operations.errors import ApiError


class ExplainingForm(Protocol):
    """A form with fields that show some refusals."""

    def add_refusal(self, refusal: ApiError) -> bool:
        """Add the refusal to its field; return whether it has one."""


def explain(form: ExplainingForm, refusal: ApiError) -> Notice | None:
    """Show a refusal at its field of the form, or return its notice."""
    return None if form.add_refusal(refusal) else refusal_notice(refusal)


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
