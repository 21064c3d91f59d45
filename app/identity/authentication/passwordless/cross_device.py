"""Cross-device sign-on: a waiting device, and the signed-in phone that approves it (decision 0233).

The device gets no more than the phone has: the account's methods, the time of its authentication, and its absolute end.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from app.contract import errors
from app.contract.passwordless.pages import cross_device_pages
from app.identity.authentication.passwordless import smart_login
from app.identity.authentication.sign_in import pending_sign_in, required_actions
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.tokens import token_store
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account, can_sign_in_now
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import OPEN, ContinuationPurpose, ContinuationToken
from app.kit import randomness
from app.kit.limits.rate_limits import Rate
from app.kit.text.code_normalization import typed_code

APPROVED: Final = "approved"
DENIED: Final = "denied"
LIFETIME: Final = timedelta(minutes=cross_device_pages.CODE_MINUTES)
"""How long the code of our own page waits for a phone."""
OPENED_LIFETIME: Final = timedelta(seconds=300)
"""How long it lives once a phone opened it, because the person may have to sign in there first."""
COLLECT_LIFETIME: Final = timedelta(seconds=60)
"""How long at least an approval waits for its browser, which asks every few seconds."""
_OPENED: Final = "opened"
_WRONG_NUMBERS: Final = Rate(3, 3600)
"""The limit of wrong numbers for one code."""


class NumberWrong(Exception):
    """The typed number is not the device's."""


@dataclass(frozen=True)
class Approver:
    """Who approves: by an access token, or by a browser's session."""

    uid: str
    methods: tuple[str, ...]
    authenticated_at: int
    ends_at: int
    """The absolute end of the token's family or of the session, in seconds."""
    token_hash: str = ""
    session_id: str = ""
    """The session that approves, or with which the token ends."""


@dataclass(frozen=True)
class Approval:
    """A spent approval."""

    account: Account
    methods: tuple[str, ...]
    authenticated_at: int
    ends_at: int
    session_id: str | None = None

    @property
    def authentication(self) -> Authentication:
        """What the phone has passed, which the device takes over."""
        account = self.account
        return Authentication(
            self.methods,
            "phone" if account.phone_verified and not account.email_verified else "email",
            pending_sign_in.channel_for(self.methods),
            authenticated_at=self.authenticated_at,
            ends_at=self.ends_at,
        )


def require_enabled(context: Context) -> None:
    """Raise EndpointForbidden where the tenant has no such sign-on."""
    if not context.tenant.settings.qr_sign_on:
        raise errors.EndpointForbidden


def begin(context: Context, lifetime: timedelta, *, has_number: bool, **facts: Any) -> ContinuationToken:
    """Store a waiting device; its text is the code, its fact `number` the number on its screen."""
    number = smart_login.new_number() if has_number else None
    stored = {"agent": context.agent, "address": context.ip_address[:64], "number": number, **facts}
    return continuation_tokens.issue(
        context, ContinuationPurpose.CROSS_DEVICE, NO_ACCOUNT, lifetime=lifetime, facts=stored, text=randomness.token()
    )


def find(context: Context, code: str | None) -> ContinuationToken | None:
    """Return the waiting device of a code, in any state; None for an unknown, expired or spent code."""
    device = continuation_tokens.find(context, ContinuationPurpose.CROSS_DEVICE, code)
    return device if device is not None and not device.is_expired(context.now) else None


def is_opened(device: ContinuationToken) -> bool:
    """Return whether a phone opened the code."""
    return bool(device.facts.get(_OPENED))


def mark_opened(context: Context, device: ContinuationToken) -> None:
    """Record that a phone opened the code, once."""
    is_first = device.state == OPEN and not is_opened(device)
    if is_first and continuation_tokens.extend(context, device, OPENED_LIFETIME, **{_OPENED: True}):
        context.audit.record("cross_device.opened", address=device.facts.get("address"))


def approve(context: Context, device: ContinuationToken, approver: Approver, typed: str | None) -> bool:
    """Approve an open device; False where another answer came before. Only one of several concurrent answers succeeds.

    Raises NumberWrong, and TooManyRequests after three wrong numbers: the caller then denies the device.
    """
    if device.state != OPEN:
        return False
    number = device.facts.get("number")
    if number is not None and typed_code(typed or "") != number:
        context.audit.record("cross_device.wrong_number", uid=approver.uid)
        context.count_against("cross_device_number", _WRONG_NUMBERS, device.token_hash)
        raise NumberWrong
    if number is not None:
        context.refuse_over_limit("cross_device_number", _WRONG_NUMBERS, device.token_hash)
    facts = {
        "uid": approver.uid,
        "amr": list(approver.methods),
        "auth_time": approver.authenticated_at,
        "ends_at": approver.ends_at,
        "by_token": approver.token_hash,
        "by_session": approver.session_id,
    }
    if not continuation_tokens.change_state(context, device, APPROVED, **facts):
        return False
    context.audit.record("cross_device.approved", uid=approver.uid, address=device.facts.get("address"))
    return True


def keep_for_collection(context: Context, device: ContinuationToken) -> None:
    """Let an approval that was given at the end of the code live until its browser asks again."""
    approved = continuation_tokens.by_hash(context, ContinuationPurpose.CROSS_DEVICE, device.token_hash)
    if approved is not None and approved.expires_at < context.now + COLLECT_LIFETIME:
        continuation_tokens.extend(context, approved, COLLECT_LIFETIME)


def deny(context: Context, device: ContinuationToken, uid: str) -> bool:
    """Deny an open device for good; False where another answer came before."""
    if device.state != OPEN or not continuation_tokens.change_state(context, device, DENIED):
        return False
    context.audit.record("cross_device.denied", uid=uid, address=device.facts.get("address"))
    return True


def redeem(context: Context, device: ContinuationToken) -> Approval | None:
    """Spend an approval. Only one of several concurrent calls succeeds.

    None where the phone was signed out meanwhile, or the account may not sign in.
    """
    facts = device.facts
    account = account_store.by_uid(context, str(facts.get("uid")))
    if device.state != APPROVED or account is None or not _is_still_signed_in(context, facts):
        return None
    if not can_sign_in_now(account) or not required_actions.are_met(context, account):
        return None
    if not continuation_tokens.spend(context, device):
        return None
    session_id = str(facts.get("by_session") or "") or None
    return Approval(account, tuple(facts["amr"]), int(facts["auth_time"]), int(facts["ends_at"]), session_id)


def _is_still_signed_in(context: Context, facts: dict[str, Any]) -> bool:
    ends_at = facts.get("ends_at")
    if not isinstance(ends_at, int) or ends_at <= context.now.timestamp():  # none: an approval by an earlier version
        return False
    if facts.get("by_session") and sessions.lock_expiry(context, facts["by_session"]) is None:
        return False
    if not facts.get("by_token"):
        return bool(facts.get("by_session"))
    holder = token_store.access(context.work, str(facts.get("by_token")))
    return holder is not None and holder.expires_at > context.now
