"""The rules of PINs: their form, when they are required, and wrong attempts."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from app.contract import errors
from app.contract.messages.models import MailKind
from app.contract.pins.settings import Pins
from app.contract.tenants.settings import TenantSettings
from app.contract.webhooks.events import EventName
from app.identity.credentials import account_locks, attempt_limit, notifications
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.directory.accounts import account_store, pin_hash
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.directory.accounts.pin_hash import PinInput
from app.identity.messaging.message import MessageFacts
from app.identity.platform import events
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError
from app.kit.text.code_normalization import typed_code

SET: Final = "SetPIN"
CHANGED: Final = "ChangePIN"
RESET: Final = "ResetPIN"


def refuse_disabled(settings: TenantSettings) -> None:
    """Raise PinOff if the tenant has PINs disabled."""
    if not settings.pin.is_on:
        raise errors.PinOff


def must_set_pin(context: Context, account: Account) -> bool:
    """Return whether the account must set a PIN before it can continue."""
    rules = context.tenant.settings.pin
    return rules.is_on and rules.required and not account.has_pin


def is_offered(context: Context, account: Account) -> bool:
    """Return whether the hosted pages offer to set a PIN, which can be skipped. `account`: as after the sign-in."""
    rules = context.tenant.settings.pin
    if not (rules.is_on and rules.ask_on_login) or account.has_pin or account.pin.get("skipped_at"):
        return False
    return not rules.ask_only_on_first_login or account.logins <= 1


def hash_new_pin(context: Context, pin: str, name: str = "pin") -> str:
    """Return the hash of a new PIN. Call it before any write: it releases the connection while hashing.

    Raises BadParameter, which names the parameter `name`: not digits, of another length, or a common PIN.
    """
    digits = _valid_digits(context.tenant.settings.pin, pin, name)
    context.work.release_connection()
    return context.hashing.hash(digits)


def check(
    context: Context, account: Account, pin: str, refusal_class: type[ApiError], *, is_lock_solved: bool = False
) -> None:
    """Verify a PIN in the request's transaction. Call it before any write. Wrong PINs count like wrong passwords.

    A right one takes back only its own attempt; the caller knows whether the sign-in is complete.

    Raises:
        NoPin: the account has none.
        LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked: it is locked, or this attempt locks it.
        refusal_class: the PIN is wrong.
    """
    if not is_lock_solved:
        account_locks.refuse_locked(context, account)
    stored = pin_hash.hash_of(context, account)
    if stored is None:
        raise errors.NoPin
    attempt = None if is_lock_solved else attempt_limit.count_attempt(context, account)
    context.work.release_connection()
    if not context.hashing.is_match(stored, typed_code(pin)):
        refusal, attempts = attempt_limit.record_failure(context, account, attempt, refusal_class())
        context.audit.record("pin.refused", uid=account.uid, attempts=attempts)
        raise refusal
    if attempt is None:
        login_records.reset_failures(context.work, account.uid, is_lock_solved=True)
    else:
        attempt.take_back(context.work)


def set_pin(context: Context, account: Account, pin_hash_text: str, event: EventName) -> Account:
    """Set the PIN of an account, notify its owner, close its PIN reset tokens, and return the changed account.

    Raises AccountBlocked if the account was blocked or deleted meanwhile.
    """
    fresh = account_store.lock(context, account.uid)
    if fresh is None or fresh.is_deleted or not fresh.is_active:
        raise errors.AccountBlocked
    private = {**fresh.private, pin_hash.KEY: pin_hash.pin_entry(context, fresh.uid, pin_hash_text)}
    after = account_store.change(context, fresh.uid, {"private": private}) or fresh
    one_time_tokens.close(context, fresh.uid, Purpose.RESET_PIN)
    context.audit.record("pin.changed", uid=fresh.uid, reason=event)
    events.emit(context, event, after)
    change = notifications.change_of(fresh.has_pin, True)
    notifications.notify(context, MailKind.PIN_CHANGED, after.email, after, MessageFacts(change=change))
    return after


def change(context: Context, account: Account, old: str, new: str) -> Account:
    """Change the account's PIN by its current one.

    Raises:
        NoPin, WrongCurrentPin, BadParameter.
        and the refusals of a lock.
    """
    if not account.has_pin:
        raise errors.NoPin
    pin_hash = hash_new_pin(context, new, "newpin")
    check(context, account, old, errors.WrongCurrentPin)
    locked = account_store.lock(context, account.uid)
    if locked is None or locked.pin != account.pin:
        raise errors.WrongCurrentPin
    return set_pin(context, locked, pin_hash, CHANGED)


def skip(context: Context, account: Account) -> None:
    """Record that the account's owner skipped setting a PIN."""
    fresh = account_store.lock(context, account.uid)
    if fresh is not None and not fresh.has_pin:
        private = {**fresh.private, pin_hash.KEY: pin_hash.skipped_entry(context, fresh.pin)}
        account_store.change(context, fresh.uid, {"private": private})


def hash_from_profile(context: Context, pin_info: PinInput | None) -> str | None:
    """Return the hash of the PIN in `PINInfo`, or None if it has none or the tenant has PINs disabled.

    Raises BadParameter as `hash_new_pin` does.
    """
    if pin_info is None or not pin_info.pin or not context.tenant.settings.pin.is_on:
        return None
    return hash_new_pin(context, pin_info.pin, "PIN")


def refuse_missing(settings: TenantSettings, pin_info: PinInput | None) -> None:
    """Raise PinMissing if a registration lacks a required PIN."""
    rules = settings.pin
    if rules.is_on and rules.required and rules.ask_on_registration and not (pin_info and pin_info.pin):
        raise errors.PinMissing


def _valid_digits(rules: Pins, pin: str, name: str) -> str:
    digits = typed_code(pin)
    is_plain = digits.isascii() and digits.isdigit()
    if not is_plain or not rules.min_length <= len(digits) <= rules.max_length:
        lengths = (
            f"{rules.min_length}"
            if rules.min_length == rules.max_length
            else f"{rules.min_length} to {rules.max_length}"
        )
        raise errors.BadParameter(f"The {name} is not formatted correctly: {lengths} digits are expected.")
    if rules.common_check and is_common(digits):
        raise errors.BadParameter(
            f"The {name} is one that everybody tries first: neither one digit over and over nor a row."
        )
    return digits


def is_common(digits: str) -> bool:
    """Return whether a PIN repeats one digit or is a sequence such as 1234 or 9876."""
    steps = {(int(after) - int(before)) % 10 for before, after in pairwise(digits)}
    return steps in ({0}, {1}, {9})
