"""A forgotten PIN is replaced, by a link, a code or security answers: the rules."""

from __future__ import annotations

from collections.abc import Mapping

from app.contract import errors
from app.identity.authentication.recovery import password_reset, recipient
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.credentials import reset_messages
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.codes import MAIL_CODE, SMS_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.pins import pins
from app.identity.credentials.reset_messages import MAIL, SMS
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose


def reset_with_link(context: Context, token: str, new: str) -> Account:
    """Set a new PIN by a link; a refused PIN leaves the link unused. Only one of several concurrent calls succeeds.

    Raises:
        UnknownLink, UsedLink, ExpiredLink, AccountBlocked, NoPin, BadParameter.
    """
    unspent = one_time_tokens.peek_link(context, Purpose.RESET_PIN, token)
    account = account_store.by_uid(context, unspent.uid)
    if account is None:
        raise errors.UnknownLink
    _require_pin(account)
    if not reset_messages.is_still_recipient(account, unspent):
        raise errors.ExpiredLink
    pin_hash = pins.hash_new_pin(context, new)
    one_time_tokens.spend_link(context, Purpose.RESET_PIN, token)
    return set_pin(context, account, pin_hash)


def reset_with_code(context: Context, lookup: AccountLookup, code: str, new: str, solution: LockSolution) -> Account:
    """Set a new PIN by a code; a refused PIN leaves the code unused. Where no code was sent, every code is wrong, at the same cost.

    Raises:
        NoPin, BadParameter, and the errors of `password_reset.check_code`.
    """
    channel, errors = (MAIL, MAIL_CODE) if lookup.identifier.kind != "phone" else (SMS, SMS_CODE)
    account = recipient.reachable_account_with_pin(lookup, channel)
    token, is_lock_solved = password_reset.check_code(
        context, lookup, account, code, channel, errors, solution, kind=Purpose.RESET_PIN
    )
    if account is None:
        raise errors.wrong
    if not reset_messages.is_still_recipient(account, token):
        raise errors.closed
    pin_hash = pins.hash_new_pin(context, new)
    one_time_tokens.spend_checked_code(context, token, errors=errors, is_lock_solved=is_lock_solved)
    return set_pin(context, account, pin_hash)


def verify_answers(context: Context, lookup: AccountLookup, answers: Mapping[str, str]) -> Account:
    """Return the account, which has a PIN, if all of its security answers are given.

    Raises NoPin, and the errors of `password_reset.verify_answers`.
    """
    account = password_reset.verify_answers(context, lookup, answers)
    _require_pin(account)
    return account


def set_pin(context: Context, account: Account, pin_hash: str) -> Account:
    """Replace a forgotten PIN, and end the account's PIN sessions and step-ups.

    An attacker who reads the account's mails on a stolen phone cannot continue them.
    """
    changed = pins.set_pin(context, account, pin_hash, pins.RESET)
    continuation_tokens.revoke_all(context, account.uid, ContinuationPurpose.PIN_SESSION, ContinuationPurpose.STEP_UP)
    return changed


def _require_pin(account: Account) -> None:
    recipient.refuse_closed(account)
    if not account.has_pin:
        raise errors.NoPin
