"""The notices of an account page whose change was refused."""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.hub.forms.code import ENOUGH_TEXTS
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.page import Notice
from app.kit.operations.errors import ApiError

_LOCKED: Final = Notice(_l("Too many attempts"), _l("Changes are locked for now. Try again later."))


def elsewhere_notice(refusal: ApiError) -> Notice:
    """Return the notice of a password that the person changes in a directory, with the address where."""
    address = (refusal.data or {}).get("PasswordUrl")
    text = _l("Change it at %(address)s.", address=address) if address else _l("Change it where you usually do.")
    return Notice(_l("Your organization manages this password"), text, "note")


CHANGE_REFUSALS: Final[dict[type[ApiError], Notice]] = {
    errors.LockedForAWhile: _LOCKED,
    errors.LockedForCaptcha: _LOCKED,
    errors.LockedForSecurityQuestion: _LOCKED,
    errors.AccountBlocked: _LOCKED,
    errors.MailLimitReached: Notice(
        _l("Too many emails"),
        _l("Check your spam folder, or try again in an hour."),
    ),
    errors.SmsLimitReached: ENOUGH_TEXTS,
    errors.SharedSmsLimitReached: ENOUGH_TEXTS,
    errors.NoSmsConfiguration: Notice(
        _l("We can’t send text messages right now"), _l("Nothing was changed. Try again later.")
    ),
    errors.EmailNotAddable: Notice(
        _l("Verify your email first"),
        _l("Verify your current email before adding another one."),
    ),
    errors.EmailUpdateRefused: Notice(
        _l("You’ve reached the email address limit"), _l("First, remove one you no longer use.")
    ),
    errors.DirectoryUnavailable: Notice(
        _l("We couldn’t check your password"), _l("Your organization’s sign-in isn’t responding. Try again later.")
    ),
    errors.LastEmail: Notice(_l("This is your only email address"), _l("Add another one before removing this one.")),
    errors.PrivacyPolicyOutdated: Notice(_l("Our privacy notice has changed"), _l("Sign in again to accept it.")),
    ApiError: Notice(_l("Something went wrong"), _l("Nothing was changed. Try again, or get help.")),
}
