"""Smart login: a device that waits until its sign-in is approved by a mailed link, or a code, on another device."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from app.contract import errors as e
from app.identity.authentication.passwordless import redemption, sending
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens import store as sent
from app.identity.credentials.one_time_tokens.service import MAIL_CODE, NOBODY, SMS_CODE, OneTimeToken, Purpose
from app.identity.directory.accounts import store as accounts
from app.identity.directory.accounts.account_lookup import AccountLookup
from app.identity.directory.accounts.service import Account
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import OPEN, ContinuationPurpose, ContinuationToken
from app.kit import randomness
from app.kit.errors import ApiError
from app.kit.limits import Rate

KINDS: Final = (Purpose.SMART_LOGIN, Purpose.ONE_TOUCH)
_NUMBER_RATE: Final = Rate(3, 3600)
"""The limit of wrong numbers for a waiting device."""


class State(StrEnum):
    """The state of a waiting device."""

    WAITS = OPEN
    APPROVED = "approved"
    DENIED = "denied"
    USED = "used"


def begin(context: Context, text: str | None, account: Account | None, **facts: Any) -> ContinuationToken:
    """Store a waiting device. `text` is the token that it polls with, generated where it is None. Raises
    ClientGuidTaken.
    """
    held = {
        "agent": context.agent,
        "address": context.address,
        **{name: value for name, value in facts.items() if value},
    }
    uid, lifetime = account.uid if account else NOBODY, timedelta(minutes=sending.link_minutes(context))
    try:
        return continuation_tokens.issue(
            context, ContinuationPurpose.SMART_LOGIN, uid, lifetime=lifetime, facts=held, text=text
        )
    except continuation_tokens.TokenExists:
        raise e.ClientGuidTaken from None


def new_number() -> str:
    """Return the two digits that the waiting device shows, to be typed on the approving one."""
    return str(10 + randomness.below(90))


def find_device(context: Context, proof: OneTimeToken) -> ContinuationToken | None:
    """Return the waiting device of a link or a code; None where it no longer waits."""
    found = continuation_tokens.by_hash(context, ContinuationPurpose.SMART_LOGIN, str(proof.facts.get("ticket") or ""))
    return found if found is not None and not found.is_expired(context.now) else None


def approve(context: Context, proof: OneTimeToken) -> ContinuationToken:
    """Approve a device by a one-time token that was just redeemed. One of several concurrent calls wins.

    Raises:
        ExpiredLink: the device no longer waits, or was denied.
        UsedSmartLink, VerifiedSmartLink: it is signed in or approved already.
    """
    found = find_device(context, proof)
    if found is None or found.state == State.DENIED:
        raise e.ExpiredLink
    if (refusal := progress_refusal(found)) is not None:
        raise refusal
    if not continuation_tokens.change_state(
        context, found, State.APPROVED, email=proof.facts.get("email"), phone=proof.facts.get("phone")
    ):
        raise e.VerifiedSmartLink
    context.audit.record("smart_login.approved", uid=found.uid)
    return found


def deny(context: Context, found: ContinuationToken) -> None:
    """Deny the device; it can never continue."""
    continuation_tokens.change_state(context, found, State.DENIED)
    context.audit.record("smart_login.denied", uid=found.uid)


def begin_for_program(
    context: Context, text: str, account: Account | None, **facts: Any
) -> tuple[ContinuationToken, str | None]:
    """Store a device for an application, and return it with the number to show on it.

    The caller chooses `text`, so approval by email alone would sign in an attacker who asked in the account holder's name. A
    caller with the API secret verifies the device itself and gets no number. Raises ClientGuidTaken.
    """
    shown = None if context.has_api_secret else new_number()
    return begin(context, text, account, number=shown, by_program=True, **facts), shown


def is_page_device(found: ContinuationToken) -> bool:
    """Return whether the device waits on our own page, which no program may approve."""
    return bool(found.facts.get("number")) and not found.facts.get("by_program")


def require_number(context: Context, found: ContinuationToken, typed: str | None) -> None:
    """Refuse an approval without the number that the device shows; after three wrong ones the sign-in is refused.

    Raises BadParameter, WrongMailCode, TooManyRequests.
    """
    if not found.facts.get("number") or found.state != State.WAITS:
        return
    if not typed:
        raise e.BadParameter.names("number")
    try:
        if number_matches(context, found, typed):
            return
    except e.TooManyRequests as over:
        deny(context, found)
        over.commit_on_raise = True
        raise over from None
    context.audit.record("smart_login.wrong_number", uid=found.uid)
    raise e.WrongMailCode("The number does not match the one on the waiting device.")


def number_matches(context: Context, found: ContinuationToken, typed: str) -> bool:
    """Return whether the typed number is the device's. Raises TooManyRequests after three wrong ones."""
    is_right = one_time_tokens.digits_in(typed) == str(found.facts.get("number"))
    count = context.demand if is_right else context.spend
    count("smart_number", _NUMBER_RATE, found.ticket_hash)
    return is_right


def progress_refusal(found: ContinuationToken) -> ApiError | None:
    """Return why an approved device cannot be approved again; None for one that waits."""
    if found.state == State.USED:
        return e.UsedSmartLink()
    return e.VerifiedSmartLink() if found.state == State.APPROVED else None


def redeem(
    context: Context, found: ContinuationToken, *, template: str | None = None, suppress_webhook: bool = False
) -> Account:
    """Use an approved device up, and return the account to sign in. One of several concurrent calls wins.

    Raises UsedSmartLink, WrongClientGuid, and what `redemption.redeem` raises.
    """
    accounts.change(context, found.uid, {})  # every request locks the account first, against deadlocks
    if not continuation_tokens.change_state(context, found, State.USED):
        raise e.UsedSmartLink
    proof = OneTimeToken(Purpose.SMART_LOGIN, found.uid, "", found.facts, found.expires_at)
    return redemption.redeem(context, proof, e.WrongClientGuid, suppress_webhook=suppress_webhook, template=template)


def spend_code(context: Context, lookup: AccountLookup, by: str, code: str) -> OneTimeToken:
    """Use a code that approves a device, sent to an account or, at one-touch login, to any number or address.

    Raises as `one_time_tokens.spend_code` does.
    """
    kind, uid, subject = Purpose.ONE_TOUCH, NOBODY, sending.unknown_subject(lookup.identifier.value)
    named = lookup.holder.uid if lookup.holder is not None else NOBODY  # queried for every account, for equal timing
    if sent.newest_code(context, Purpose.SMART_LOGIN, named, by) is not None:
        kind, uid, subject = Purpose.SMART_LOGIN, named, by
    errors = MAIL_CODE if by == sending.MAIL else SMS_CODE
    name = lookup.identifier if lookup.is_hidden or uid == NOBODY else None
    return one_time_tokens.spend_code(context, kind, uid, code, subject=subject, errors=errors, identifier=name)


def spend_link(context: Context, kind: Purpose, token: str) -> OneTimeToken:
    """Use the link of a device. Raises UnknownLink, ExpiredLink; UsedSmartLink, VerifiedSmartLink or UsedOneTouchLink."""
    try:
        return one_time_tokens.spend_link(context, kind, token)
    except e.UsedLink:
        held = one_time_tokens.find_link(context, kind, token)
    if kind is Purpose.ONE_TOUCH:
        raise e.UsedOneTouchLink
    found = find_device(context, held) if held is not None else None
    raise (progress_refusal(found) if found is not None else None) or e.UsedSmartLink()
