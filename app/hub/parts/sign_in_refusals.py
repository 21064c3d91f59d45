"""Reasons for which a sign-in is refused, and their notices."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from flask_babel import lazy_gettext as _l
from flask_babel import lazy_ngettext as _n

from app.contract import errors as e
from app.hub.page import Notice
from app.kit.errors import ApiError


class RefusalReason(StrEnum):
    """Why a sign-in was refused, as far as the page may reveal it."""

    WRONG = "wrong"
    SUSPENDED = "suspended"
    CAPTCHA = "captcha"
    QUESTION = "question"
    ANSWER = "answer"
    """A wrong captcha or security answer; the error is at its field."""
    LOCKED = "locked"
    """Locked until a security question is answered, and the tenant has none."""
    BLOCKED = "blocked"
    DISABLED = "disabled"
    UNVERIFIED = "unverified"
    TOO_MANY = "too many"
    SESSIONS = "sessions"
    BREACHED = "breached"
    ELSEWHERE = "elsewhere"
    PASSKEY = "passkey"
    SCRIPTLESS = "scriptless"
    """A passkey was requested, but no script ran."""


NEEDS: Final = {
    "password": Notice(
        _l("Now your password"),
        _l("This account is signed in to in two steps, and your mail or phone is one of them already."),
        "note",
    ),
    "denied": Notice(
        _l("You are not signed in"),
        _l("You left the other page without signing in there. Try again, or take another way."),
    ),
    "address": Notice(
        _l("This address may not be used here"),
        _l("The account elsewhere has an address that cannot sign up here. Take another way."),
    ),
    "silent": Notice(
        _l("That was no new proof"), _l("The other service did not ask you to sign in there again. Take another way.")
    ),
    "connects": Notice(
        _l("Sign in with your password, and the two are connected"),
        _l(
            "From then on the account elsewhere opens this one. If you did not come from there just now, do not sign in here."
        ),
        "note",
    ),
    "nobody": Notice(
        _l("Nobody here is connected to that account"),
        _l("If you have an account here, sign in to it. You can connect the two under your security settings."),
        "note",
    ),
    "broken": Notice(
        _l("That way does not work now"),
        _l("The other service did not answer as it should. Try again in a while, or take another way."),
    ),
}
"""Notices after a redirect that did not complete the sign-in, by the value of `needs` in the address."""


def sign_in_notice(refusal: RefusalReason, wait_seconds: int) -> Notice:
    """Return the notice of a reason."""
    if refusal is RefusalReason.SUSPENDED:
        return Notice(
            _l("Too many tries"),
            _l("Sign-in is paused to protect this account. %(again)s", again=_retry_text(wait_seconds)),
        )
    if refusal is RefusalReason.TOO_MANY:
        return Notice(_l("That was a lot at once"), _retry_text(wait_seconds))
    return _NOTICES[refusal]


def _retry_text(wait_seconds: int) -> Any:
    """Return the text that says when to try again, rounded up."""
    minutes = -(-wait_seconds // 60)
    if wait_seconds <= 0:
        return _l("Try again later.")
    if wait_seconds <= 90:
        return _n("Try again in %(num)d second.", "Try again in %(num)d seconds.", wait_seconds)
    if minutes <= 90:
        return _n("Try again in %(num)d minute.", "Try again in %(num)d minutes.", minutes)
    return _n("Try again in %(num)d hour.", "Try again in %(num)d hours.", -(-minutes // 60))


CHALLENGED: Final = frozenset({RefusalReason.CAPTCHA, RefusalReason.QUESTION, RefusalReason.ANSWER})
"""Reasons for which the page shows a challenge."""

NEEDS_SUPPORT: Final = frozenset(
    {RefusalReason.QUESTION, RefusalReason.LOCKED, RefusalReason.BLOCKED, RefusalReason.DISABLED}
)
"""Reasons that may need support; the page does not reveal whether the account has a security answer."""

CHECK_MORE: Final = Notice(
    _l("One check more"),
    _l("There were too many tries. Type your password again, and show below it that you are no machine."),
)
"""Shown for a lock that a captcha provider's widget unlocks."""

_NOTICES: Final = {
    RefusalReason.PASSKEY: Notice(
        _l("That passkey did not work"), _l("It may have been removed here. Sign in another way, and add it again.")
    ),
    RefusalReason.SCRIPTLESS: Notice(
        _l("A passkey needs JavaScript"),
        _l("This browser did not run the script of the page. Allow JavaScript here, or sign in with your password."),
        "note",
    ),
    RefusalReason.WRONG: Notice(_l("That did not work"), _l("Check both fields, then try again.")),
    RefusalReason.CAPTCHA: Notice(
        _l("One question more"),
        _l("There were too many tries. Type your password again, and answer the question below it."),
    ),
    RefusalReason.QUESTION: Notice(
        _l("Sign-in is locked"),
        _l("There were too many tries. Type your password again, and answer the security question of this account."),
    ),
    RefusalReason.ANSWER: Notice(_l("That did not work"), _l("Type your password again, too.")),
    RefusalReason.LOCKED: Notice(
        _l("Sign-in is locked"), _l("There were too many tries. Ask for help to have this account unlocked.")
    ),
    RefusalReason.BLOCKED: Notice(
        _l("This account is blocked"), _l("Only the people who run this service can open it again.")
    ),
    RefusalReason.DISABLED: Notice(
        _l("This account is switched off"), _l("Ask the people who run this service to switch it on.")
    ),
    RefusalReason.UNVERIFIED: Notice(
        _l("Confirm your address first"),
        _l("Open the message we sent you when you signed up, then sign in here."),
        "note",
    ),
    RefusalReason.BREACHED: Notice(
        _l("This password was stolen elsewhere"),
        _l("It stands in lists that thieves use. We sent you a mail: set a new one with it, then you can sign in."),
        "note",
    ),
    RefusalReason.ELSEWHERE: Notice(
        _l("Nobody signs in from here yet"),
        _l(
            "This account was never used on this device or from this place. We mailed its owner. Sign in from where you usually do."
        ),
    ),
    RefusalReason.SESSIONS: Notice(
        _l("You are signed in at too many places"), _l("Sign out somewhere else first, then sign in here.")
    ),
}


REFUSALS: Final[dict[type[ApiError], RefusalReason]] = {
    e.AccountBlocked: RefusalReason.BLOCKED,
    e.LoginDisabled: RefusalReason.DISABLED,
    e.LoginNotAllowed: RefusalReason.DISABLED,
    e.EmailUnverified: RefusalReason.UNVERIFIED,
    e.PhoneUnverified: RefusalReason.UNVERIFIED,
    e.LockedForAWhile: RefusalReason.SUSPENDED,
    e.LockedForCaptcha: RefusalReason.CAPTCHA,
    e.LockedForSecurityQuestion: RefusalReason.QUESTION,
    e.TooManySessions: RefusalReason.SESSIONS,
    e.PasswordBreached: RefusalReason.BREACHED,
    e.PasswordResetMailed: RefusalReason.BREACHED,
    e.TooManyRequests: RefusalReason.TOO_MANY,
    e.RiskBlocked: RefusalReason.BLOCKED,
    **dict.fromkeys((e.NewDevice, e.NewBrowser, e.NewCity, e.NewCountry, e.NewAddress), RefusalReason.ELSEWHERE),
}
"""All other errors are WRONG, which reveals nothing."""


def reason_for(refusal: ApiError) -> RefusalReason:
    """Return the reason of a refusal; WRONG for those that would reveal something."""
    return next((reason for kind, reason in REFUSALS.items() if isinstance(refusal, kind)), RefusalReason.WRONG)


def wait_seconds(refusal: ApiError, now: int) -> int:
    """Return the seconds until the next try, from the lock or from `Retry-After`; `now` is in seconds since 1970."""
    until = (refusal.data or {}).get("LoginLockedTimeout")
    if isinstance(until, str):
        return max(0, int(datetime.fromisoformat(until).timestamp()) - now)
    return refusal.retry_after_seconds or 0
