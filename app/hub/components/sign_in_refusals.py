"""Reasons for which a sign-in is refused, and their notices."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from app.contract import errors
from app.contract.organizations.settings import MethodLimit
from app.contract.step_reasons import LoginReason
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_ngettext as _n
from app.hub.rendering.countdown import IN_MINUTES, retry_text
from app.hub.rendering.page import Notice
from app.hub.web.errors import shown_for
from app.kit.operations.errors import ApiError


class RefusalReason(StrEnum):
    """Why a sign-in was refused, as far as the page may reveal it."""

    WRONG = "wrong"
    SUSPENDED = "suspended"
    CAPTCHA = "captcha"
    QUESTION = "question"
    ANSWER = "answer"
    """A wrong security answer; the error is at its field."""
    LOCKED = "locked"
    """Locked until a security question is answered, and the tenant has none."""
    BLOCKED = "blocked"
    DISABLED = "disabled"
    UNVERIFIED = "unverified"
    UNVERIFIED_PHONE = "unverified phone"
    TOO_MANY = "too many"
    SESSIONS = "sessions"
    BREACHED = "breached"
    EXPIRED = "expired"
    """The directory of the organization demands a new password."""
    ELSEWHERE = "elsewhere"
    PASSKEY = "passkey"
    SCRIPTLESS = "scriptless"
    """A passkey was requested, but no script ran."""


DENIALS: Final = frozenset({LoginReason.WORKFLOW, LoginReason.CLOSED})
"""Values of `needs` with which the page shows why a workflow refused the sign-in."""

PROVIDER_REASONS: Final = frozenset(
    {
        LoginReason.DENIED,
        LoginReason.BROKEN,
        LoginReason.NOT_REAUTHENTICATED,
        LoginReason.EMAIL_REFUSED,
        LoginReason.FOREIGN_EMAIL,
        LoginReason.NOT_MEMBER,
    }
)
"""Values of `needs` after which a sign-in at the same provider can be tried again."""

NEEDS: Final = {
    "password": Notice(
        _l("Enter your password"),
        _l("This account uses two-step verification with your email or phone, so sign in with your password."),
        "note",
    ),
    "browser": Notice(
        _l("Enter your password"),
        _l("Your account needs one more step on this device, so sign in with your password."),
        "note",
    ),
    "denied": Notice(
        _l("Sign-in canceled"),
        _l("You left the provider’s page before signing in. Try again, or try another way."),
    ),
    "address": Notice(
        _l("This email can’t be used here"),
        _l("You can’t sign up here with that account’s email. Try another way."),
    ),
    "silent": Notice(
        _l("We couldn’t confirm it’s you"), _l("The provider didn’t ask you to sign in again. Try another way.")
    ),
    "connects": Notice(
        _l("Sign in to connect your accounts"),
        _l("Then you can sign in with either one. If you didn’t start this yourself, don’t sign in here."),
        "note",
    ),
    "unlinked": Notice(
        _l("You already have an account"),
        _l("Sign in to it another way. Connecting other accounts is turned off here."),
        "note",
    ),
    "nobody": Notice(
        _l("No account is connected"),
        _l("Already have an account? Sign in another way, then connect this one in Security."),
        "note",
    ),
    "domain": Notice(
        _l("This email can’t be used here"),
        _l("Your organization’s sign-in named an email that isn’t verified as its own. Ask your administrator."),
    ),
    "member": Notice(
        _l("You’re not a member yet"),
        _l("Your organization doesn’t add people when they sign in. Ask your administrator to add you."),
    ),
    "broken": Notice(
        _l("This provider isn’t responding"),
        _l("Try again later, or try another way."),
    ),
    "refused": Notice(
        _l("Sign-in didn’t finish"),
        _l("We couldn’t verify the provider’s response. Try again, or try another way."),
    ),
    "unusable": Notice(_l("Sign-in method unavailable"), _l("You can’t sign in this way right now. Try another way.")),
}
"""Notices after a redirect that did not complete the sign-in, by the value of `needs` in the address."""
PROVIDER_SAMPLES: Final = {
    "denied at the provider": "denied", "email not allowed here": "address", "provider asked nothing": "silent",
    "connects no account": "unlinked", "no account for the provider": "nobody", "provider not responding": "broken",
    "provider not verified": "refused", "provider unusable": "unusable",
}  # fmt: skip
"""Values of `needs` after a provider, by the names of samples."""


def method_notice(limit: MethodLimit) -> Notice:
    """Return the notice for a sign-in method that an organization does not allow."""
    methods = [method for method in limit.allowed_methods if method in _REQUIRED]
    heading, text = _REQUIRED[methods[0]] if len(methods) == 1 else _SEVERAL
    return Notice(heading % {"organization": limit.organization}, text, "note")


def denial_notice(text: str) -> Notice:
    """Return the notice of a sign-in that the tenant's workflow refused; without a text of the tenant, a general one.

    The text may say that it is for good.
    """
    if text:
        return Notice(_l("You can’t sign in"), text)
    return Notice(_l("You can’t sign in right now"), _l("Try again later, or get help."))


def sign_in_notice(refusal: RefusalReason, wait_seconds: int) -> Notice:
    """Return the notice of a reason; a wait of `wait_seconds` is stated once, in words."""
    if refusal is RefusalReason.SUSPENDED:
        return Notice(_l("Sign-in is locked"), _lock_text(wait_seconds))
    if refusal is RefusalReason.TOO_MANY:
        return Notice(_l("Too many attempts"), retry_text(wait_seconds))
    return _NOTICES[refusal]


def too_many_notice(refusal: ApiError) -> Notice:
    """Return the notice of too many requests, with the wait that the refusal names."""
    return sign_in_notice(RefusalReason.TOO_MANY, refusal.retry_after_seconds or 0)


def _lock_text(wait_seconds: int) -> Any:
    if wait_seconds <= 0:
        return _l("Too many failed attempts. Try again later, or reset your password.")
    if wait_seconds <= IN_MINUTES:
        return _n(
            "Too many failed attempts. Try again in %(num)d minute, or reset your password.",
            "Too many failed attempts. Try again in %(num)d minutes, or reset your password.",
            -(-wait_seconds // 60),
        )
    return _n(
        "Too many failed attempts. Try again in %(num)d hour, or reset your password.",
        "Too many failed attempts. Try again in %(num)d hours, or reset your password.",
        -(-wait_seconds // 3600),
    )


CHALLENGED: Final = frozenset({RefusalReason.QUESTION, RefusalReason.ANSWER})
"""Reasons for which the page shows a challenge."""

RESETTABLE: Final = frozenset({RefusalReason.LOCKED, RefusalReason.SUSPENDED})
"""Locks that a password reset ends at once; until then no way signs in."""
STOPPED: Final = RESETTABLE | {RefusalReason.BLOCKED, RefusalReason.DISABLED}
"""Reasons that no further attempt can resolve now: a password reset ends a lock, support the others."""

_NOTICES: Final = {
    RefusalReason.PASSKEY: Notice(
        _l("That passkey didn’t work"),
        _l("It may have been deleted from your account. Sign in another way, then create a new one."),
    ),
    RefusalReason.SCRIPTLESS: Notice(
        _l("Passkeys need JavaScript"),
        _l("Turn on JavaScript, or sign in with your password."),
        "note",
    ),
    RefusalReason.WRONG: Notice(_l("We couldn’t sign you in"), _l("Try again, or try another way.")),
    RefusalReason.CAPTCHA: Notice(
        _l("One more check"), _l("This keeps bots out. Enter your password again to continue."), "note"
    ),
    RefusalReason.QUESTION: Notice(
        _l("Sign-in is locked"),
        _l("Too many attempts. Enter your password again and answer this account’s security question."),
    ),
    RefusalReason.ANSWER: Notice(_l("Wrong answer"), _l("Try another answer, and enter your password again.")),
    RefusalReason.LOCKED: Notice(
        _l("Sign-in is locked"), _l("Too many failed attempts. Reset your password to unlock this account.")
    ),
    RefusalReason.BLOCKED: Notice(_l("Account blocked"), _l("Get help to unblock it.")),
    RefusalReason.DISABLED: Notice(_l("Account disabled"), _l("Get help to reactivate it.")),
    RefusalReason.UNVERIFIED: Notice(
        _l("Verify your email first"),
        _l("Open the link we emailed you when you signed up, then sign in here."),
        "note",
    ),
    RefusalReason.UNVERIFIED_PHONE: Notice(
        _l("Verify your phone first"), _l("Sign in with your password, then enter the code we text you."), "note"
    ),
    RefusalReason.BREACHED: Notice(
        _l("Choose a new password"),
        _l("Your password was found in a data breach. We’ve emailed you a link to reset it."),
        "note",
    ),
    RefusalReason.EXPIRED: Notice(
        _l("Password expired"),
        _l("Your organization requires a new password. Change it there, then sign in here."),
        "note",
    ),
    RefusalReason.ELSEWHERE: Notice(
        _l("We don’t recognize this sign-in"),
        _l("We’ve notified the account owner. Sign in from a device and place you’ve used before."),
    ),
    RefusalReason.SESSIONS: Notice(_l("Too many devices signed in"), _l("Sign out on another device, then try again.")),
}


_REQUIRED: Final = {
    "password": (_l("%(organization)s requires a password"), _l("Enter your password to continue.")),
    "passkey": (_l("%(organization)s requires a passkey"), _l("Use a passkey to continue.")),
    "email": (_l("%(organization)s requires sign-in by email"), _l("Get an email link to continue.")),
    "sms": (_l("%(organization)s requires a code by text message"), _l("Get a code by text message to continue.")),
    "connection": (
        _l("%(organization)s requires a connected account"),
        _l("Sign in with the account that your organization uses."),
    ),
}
"""Heading and text for the only method that an organization allows."""
_SEVERAL: Final = (
    _l("%(organization)s requires another sign-in method"),
    _l("Choose one of the methods below to continue."),
)


REFUSALS: Final[dict[type[ApiError], RefusalReason]] = {
    errors.AccountBlocked: RefusalReason.BLOCKED,
    errors.LoginDisabled: RefusalReason.DISABLED,
    errors.LoginNotAllowed: RefusalReason.DISABLED,
    errors.EmailUnverified: RefusalReason.UNVERIFIED,
    errors.PhoneUnverified: RefusalReason.UNVERIFIED_PHONE,
    errors.LockedForAWhile: RefusalReason.SUSPENDED,
    errors.LockedForCaptcha: RefusalReason.CAPTCHA,
    errors.LockedForSecurityQuestion: RefusalReason.QUESTION,
    errors.TooManySessions: RefusalReason.SESSIONS,
    errors.PasswordBreached: RefusalReason.BREACHED,
    errors.PasswordResetMailed: RefusalReason.BREACHED,
    errors.DirectoryPasswordExpired: RefusalReason.EXPIRED,
    errors.TooManyRequests: RefusalReason.TOO_MANY,
    errors.RiskBlocked: RefusalReason.BLOCKED,
    **dict.fromkeys(
        (errors.NewDevice, errors.NewBrowser, errors.NewCity, errors.NewCountry, errors.NewAddress),
        RefusalReason.ELSEWHERE,
    ),
}
"""The reason of each refusal; all other errors map to WRONG, which reveals nothing."""


def reason_for(refusal: ApiError) -> RefusalReason:
    """Return the reason of a refusal; WRONG for those that would reveal something."""
    return shown_for(refusal, REFUSALS) or RefusalReason.WRONG


def wait_seconds(refusal: ApiError, now: int) -> int:
    """Return the seconds until the next try, from the lock or from `Retry-After`; `now` is in seconds since 1970."""
    until = (refusal.data or {}).get("LoginLockedTimeout")
    if isinstance(until, str):
        return max(0, int(datetime.fromisoformat(until).timestamp()) - now)
    return refusal.retry_after_seconds or 0
