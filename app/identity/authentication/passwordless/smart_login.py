"""A device that waits until somebody says yes in their own mailbox: what it is known by, who it is for, and where it stands."""

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
"""How often a number may be matched with one that waits."""


class State(StrEnum):
    """Where a waiting device stands."""

    WAITS = OPEN
    APPROVED = "approved"
    DENIED = "denied"
    USED = "used"


def begin(context: Context, text: str | None, account: Account | None, **facts: Any) -> ContinuationToken:
    """Keep a device that waits: `text` is what it polls with, made here where it is None. Raises ClientGuidTaken."""
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
    """Return two digits that stand on the device that waits, and are typed on the other."""
    return str(10 + randomness.below(90))


def find_device(context: Context, proof: OneTimeToken) -> ContinuationToken | None:
    """Return the device that a link or a code is about; None where it waits no more."""
    found = continuation_tokens.by_hash(context, ContinuationPurpose.SMART_LOGIN, str(proof.facts.get("ticket") or ""))
    return found if found is not None and not found.is_expired(context.now) else None


def approve(context: Context, proof: OneTimeToken) -> ContinuationToken:
    """Say yes with a proof that was just used up. Of many at once one wins.

    Raises:
        ExpiredLink: the device waits no more, or somebody said no.
        UsedSmartLink, VerifiedSmartLink: it went on already, or may.
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
    """Say no: the device never goes on."""
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
    """Return whether the device waits on our own page, where no program has a say."""
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
    """Return whether the number that was typed is the device's. Raises TooManyRequests after three wrong ones."""
    is_right = one_time_tokens.digits_in(typed) == str(found.facts.get("number"))
    count = context.demand if is_right else context.spend
    count("smart_number", _NUMBER_RATE, found.ticket_hash)
    return is_right


def progress_refusal(found: ContinuationToken) -> ApiError | None:
    """Return why a device that was approved cannot be approved again; None for one that waits."""
    if found.state == State.USED:
        return e.UsedSmartLink()
    return e.VerifiedSmartLink() if found.state == State.APPROVED else None


def redeem(
    context: Context, found: ContinuationToken, *, template: str | None = None, suppress_webhook: bool = False
) -> Account:
    """Use up what was approved, and return whose session begins. Of many at once one wins.

    Raises UsedSmartLink, WrongClientGuid, and what `redeeming.account_of` raises.
    """
    accounts.change(context, found.uid, {})  # everybody locks the account first
    if not continuation_tokens.change_state(context, found, State.USED):
        raise e.UsedSmartLink
    proof = OneTimeToken(Purpose.SMART_LOGIN, found.uid, "", found.facts, found.expires_at)
    return redemption.redeem(context, proof, e.WrongClientGuid, suppress_webhook=suppress_webhook, template=template)


def spend_code(context: Context, lookup: AccountLookup, by: str, code: str) -> OneTimeToken:
    """Use a code that approves, sent to an account or, at a one-touch login, to anybody. Raises as `proofs.spend_code`."""
    kind, uid, subject = Purpose.ONE_TOUCH, NOBODY, sending.unknown_subject(lookup.identifier.value)
    named = lookup.holder.uid if lookup.holder is not None else NOBODY  # asked of everybody: it takes its time
    if sent.newest_code(context, Purpose.SMART_LOGIN, named, by) is not None:
        kind, uid, subject = Purpose.SMART_LOGIN, named, by
    errors = MAIL_CODE if by == sending.MAIL else SMS_CODE
    name = lookup.identifier if lookup.is_hidden or uid == NOBODY else None
    return one_time_tokens.spend_code(context, kind, uid, code, subject=subject, errors=errors, identifier=name)


def spend_link(context: Context, kind: Purpose, token: str) -> OneTimeToken:
    """Use the link of a device up. Raises UnknownLink, ExpiredLink; UsedSmartLink, VerifiedSmartLink or UsedOneTouchLink."""
    try:
        return one_time_tokens.spend_link(context, kind, token)
    except e.UsedLink:
        held = one_time_tokens.find_link(context, kind, token)
    if kind is Purpose.ONE_TOUCH:
        raise e.UsedOneTouchLink
    found = find_device(context, held) if held is not None else None
    raise (progress_refusal(found) if found is not None else None) or e.UsedSmartLink()
