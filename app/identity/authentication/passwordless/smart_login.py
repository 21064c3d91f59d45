"""Smart login: a pending device that a mailed link, or a code, approves on another device."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Any, Final, cast

from app.contract import errors
from app.identity.authentication.passwordless import passwordless_sending, redemption
from app.identity.credentials import reset_messages
from app.identity.credentials.one_time_tokens import one_time_token_store, one_time_tokens
from app.identity.credentials.one_time_tokens.codes import MAIL_CODE, SMS_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import OneTimeTokenFacts, Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.credentials.reset_messages import MAIL
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import OPEN, ContinuationPurpose, ContinuationToken
from app.kit import randomness
from app.kit.limits.rate_limits import Rate
from app.kit.operations.errors import ApiError
from app.kit.text.code_normalization import typed_code

KINDS: Final = (Purpose.SMART_LOGIN, Purpose.ONE_TOUCH)
_NUMBER_RATE: Final = Rate(3, 3600)
"""The limit of wrong numbers for a pending device."""


class State(StrEnum):
    """The state of a pending device."""

    PENDING = OPEN
    APPROVED = "approved"
    DENIED = "denied"
    USED = "used"


def begin(context: Context, text: str | None, account: Account | None, **facts: Any) -> ContinuationToken:
    """Store a pending device that polls with `text`, by default a generated token. Raises ClientGuidTaken."""
    stored = {
        "agent": context.agent,
        "address": context.ip_address,
        **{name: value for name, value in facts.items() if value},
    }
    uid = account.uid if account else NO_ACCOUNT
    lifetime = timedelta(minutes=passwordless_sending.link_minutes(context))
    try:
        return continuation_tokens.issue(
            context, ContinuationPurpose.SMART_LOGIN, uid, lifetime=lifetime, facts=stored, text=text
        )
    except continuation_tokens.TokenExists:
        raise errors.ClientGuidTaken from None


def new_number() -> str:
    """Return the two digits that the pending device shows and the user types on the approving one."""
    return str(10 + randomness.below(90))


def find_device(context: Context, token: OneTimeToken) -> ContinuationToken | None:
    """Return the pending device of a link or a code; None if it expired."""
    device = continuation_tokens.by_hash(context, ContinuationPurpose.SMART_LOGIN, token.facts.get("ticket") or "")
    return device if device is not None and not device.is_expired(context.now) else None


def approve(context: Context, token: OneTimeToken) -> ContinuationToken:
    """Approve a device by a redeemed one-time token. Only one of several concurrent calls succeeds.

    Raises:
        ExpiredLink: the device expired or was denied.
        UsedSmartLink, VerifiedSmartLink: the device is signed in or approved already.
    """
    device = find_device(context, token)
    if device is None or device.state == State.DENIED:
        raise errors.ExpiredLink
    if (refusal := progress_refusal(device)) is not None:
        raise refusal
    if not continuation_tokens.change_state(
        context, device, State.APPROVED, email=token.facts.get("email"), phone=token.facts.get("phone")
    ):
        raise errors.VerifiedSmartLink
    context.audit.record("smart_login.approved", uid=device.uid)
    return device


def deny(context: Context, device: ContinuationToken) -> None:
    """Deny the device for good."""
    continuation_tokens.change_state(context, device, State.DENIED)
    context.audit.record("smart_login.denied", uid=device.uid)


def begin_for_program(
    context: Context, text: str, account: Account | None, **facts: Any
) -> tuple[ContinuationToken, str | None]:
    """Store a device for an application, and return it with the number to show on it.

    The caller chooses `text`, so approval by email alone would sign in an attacker who named the account. A caller with
    the API secret verifies the device itself and gets no number. Raises ClientGuidTaken.
    """
    number = None if context.has_api_secret else new_number()
    return begin(context, text, account, number=number, by_program=True, **facts), number


def is_page_device(device: ContinuationToken) -> bool:
    """Return whether the device shows our own page, which no program may approve."""
    return bool(device.facts.get("number")) and not device.facts.get("by_program")


def require_number(context: Context, device: ContinuationToken, typed: str | None) -> None:
    """Refuse an approval without the number that the device shows; three wrong numbers deny the sign-in.

    Raises:
        BadParameter, WrongMailCode, TooManyRequests.
    """
    if not device.facts.get("number") or device.state != State.PENDING:
        return
    if not typed:
        raise errors.BadParameter.names("number")
    try:
        if number_matches(context, device, typed):
            return
    except errors.TooManyRequests as limit:
        deny(context, device)
        limit.commit_on_raise = True
        raise limit from None
    context.audit.record("smart_login.wrong_number", uid=device.uid)
    raise errors.WrongMailCode("The number does not match the one on the waiting device.")


def number_matches(context: Context, device: ContinuationToken, typed: str) -> bool:
    """Return whether the typed number is the device's. Raises TooManyRequests after three wrong ones."""
    is_right = typed_code(typed) == str(device.facts.get("number"))
    count = context.refuse_over_limit if is_right else context.count_against
    count("smart_number", _NUMBER_RATE, device.token_hash)
    return is_right


def progress_refusal(device: ContinuationToken) -> ApiError | None:
    """Return the refusal to approve the device again; None for a pending device."""
    if device.state == State.USED:
        return errors.UsedSmartLink()
    return errors.VerifiedSmartLink() if device.state == State.APPROVED else None


def redeem(context: Context, device: ContinuationToken, *, template: str | None = None) -> Account:
    """Use up an approved device, and return the account to sign in. Only one of several concurrent calls succeeds.

    Raises:
        UsedSmartLink, WrongClientGuid, and the errors of `redemption.redeem`.
    """
    account_store.lock(context, device.uid)  # lock the account first, as every request does, against deadlocks
    if not continuation_tokens.change_state(context, device, State.USED):
        raise errors.UsedSmartLink
    facts = cast("OneTimeTokenFacts", device.facts)  # `begin` stores those of the message too
    token = OneTimeToken(Purpose.SMART_LOGIN, device.uid, "", facts, device.expires_at)
    return redemption.redeem(context, token, errors.WrongClientGuid, template=template)


def spend_code(context: Context, lookup: AccountLookup, channel: str, code: str) -> OneTimeToken:
    """Use a code that approves a device, sent to an account or, at one-touch login, to any number or address.

    Raises the errors of `one_time_tokens.spend_code`.
    """
    kind, uid, subject = Purpose.ONE_TOUCH, NO_ACCOUNT, reset_messages.unknown_subject(lookup.identifier.value)
    # queried for every account, for equal timing
    account_uid = lookup.holder.uid if lookup.holder is not None else NO_ACCOUNT
    if one_time_token_store.newest_code(context, Purpose.SMART_LOGIN, account_uid, channel) is not None:
        kind, uid, subject = Purpose.SMART_LOGIN, account_uid, channel
    errors = MAIL_CODE if channel == MAIL else SMS_CODE
    name = lookup.identifier if lookup.is_hidden or uid == NO_ACCOUNT else None
    return one_time_tokens.spend_code(context, kind, uid, code, subject=subject, errors=errors, identifier=name)


def spend_link(context: Context, kind: Purpose, token: str) -> OneTimeToken:
    """Use the link of a device. Raises UnknownLink, ExpiredLink; UsedSmartLink, VerifiedSmartLink or UsedOneTouchLink."""
    try:
        return one_time_tokens.spend_link(context, kind, token)
    except errors.UsedLink:
        stored = one_time_tokens.find_link(context, kind, token)
    if kind is Purpose.ONE_TOUCH:
        raise errors.UsedOneTouchLink
    device = find_device(context, stored) if stored is not None else None
    raise (progress_refusal(device) if device is not None else None) or errors.UsedSmartLink()
