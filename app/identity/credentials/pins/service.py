"""The rules of PINs (interface user.md section 10): their form, who must have one, what a wrong one costs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Protocol

from app.contract import errors as e
from app.contract.configuration import TenantSettings
from app.contract.messages import MailKind
from app.contract.pin_settings import Pins
from app.identity.credentials import notifications
from app.identity.credentials.one_time_tokens import attempt_limit
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import Purpose
from app.identity.directory.accounts import login_records, pin_hash, store
from app.identity.directory.accounts.account import Account
from app.identity.platform import events
from app.identity.platform.context import Context
from app.kit.errors import ApiError

SET, CHANGED, RESET = "SetPIN", "ChangePIN", "ResetPIN"
"""The interface's events."""


class PinInput(Protocol):
    """What a profile's `PINInfo` says."""

    @property
    def pin(self) -> str | None: ...

    @property
    def skipped(self) -> bool | None: ...


def refuse_disabled(settings: TenantSettings) -> None:
    """Raise PinOff where the tenant has no PINs."""
    if not settings.pin.is_on:
        raise e.PinOff


def must_set_pin(context: Context, account: Account) -> bool:
    """Return whether the account goes no further without setting one."""
    rules = context.tenant.settings.pin
    return rules.is_on and rules.required and not account.has_pin


def is_offered(context: Context, account: Account) -> bool:
    """Return whether our pages ask for one that may be skipped; `account` is as it is once it is signed in."""
    rules = context.tenant.settings.pin
    if not (rules.is_on and rules.ask_on_login) or account.has_pin or account.pin.get("skipped_at"):
        return False
    return not rules.ask_only_on_first_login or account.logins <= 1


def hash_new_pin(context: Context, shown: str, name: str = "pin") -> str:
    """Return the hash of a new PIN. Nothing may have been written yet: the connection is given back while hashing.

    Raises BadParameter, which calls the parameter by `name`: no PIN, of another length, or one that everybody tries first.
    """
    digits = _valid_digits(context.tenant.settings.pin, shown, name)
    context.work.release_connection()
    return context.hashing.hash(digits)


def check(
    context: Context, account: Account, shown: str, wrong: type[ApiError], *, is_lock_solved: bool = False
) -> None:
    """Compare a PIN, in the call's transaction; call it before anything is written. Wrong ones count as passwords do.

    A right one takes back its own count alone: what it is good for says whether the sign-in is whole.

    Raises:
        NoPin: the account has none.
        LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked: it is locked, or was by this very try.
        wrong: it is another one.
    """
    if not is_lock_solved:
        one_time_tokens.refuse_locked(context, account)
    stored = pin_hash.hash_of(context, account)
    if stored is None:
        raise e.NoPin
    tried = None if is_lock_solved else attempt_limit.count_attempt(context, account)
    context.work.release_connection()
    if not context.hashing.is_match(stored, one_time_tokens.digits_in(shown)):
        refusal, attempts = attempt_limit.record_failure(context, account, tried, wrong())
        context.audit.record("pin.refused", uid=account.uid, attempts=attempts)
        raise refusal
    if tried is None:
        login_records.reset_failures(context.work, account.uid, is_lock_solved=True)
    else:
        attempt_limit.record_success(context, account, is_complete=False)


def set_pin(context: Context, account: Account, hashed: str, event: str, *, suppress_webhook: bool = False) -> Account:
    """Give an account its PIN and return it as it is then; its owner is told, and what resets the one before is over.

    Raises AccountBlocked where the account was closed meanwhile.
    """
    fresh = store.change(context, account.uid, {})
    if fresh is None or fresh.is_deleted or not fresh.is_active:
        raise e.AccountBlocked
    private = {**fresh.private, pin_hash.KEY: pin_hash.pin_entry(context, fresh.uid, hashed)}
    after = store.change(context, fresh.uid, {"private": private}) or fresh
    one_time_tokens.close(context, fresh.uid, Purpose.RESET_PIN)
    context.audit.record("pin.changed", uid=fresh.uid, reason=event)
    events.emit(context, event, after, suppress_webhook)
    notifications.notify(context, MailKind.PIN_CHANGED, after.email, after)
    return after


def skip(context: Context, account: Account) -> None:
    """Keep that the account's owner does not want a PIN."""
    fresh = store.change(context, account.uid, {})
    if fresh is not None and not fresh.has_pin:
        private = {**fresh.private, pin_hash.KEY: pin_hash.skipped_entry(context, fresh.pin)}
        store.change(context, fresh.uid, {"private": private})


def hash_from_profile(context: Context, given: PinInput | None) -> str | None:
    """Return the hash of the PIN that a profile's `PINInfo` says; None where it says none, or the tenant has no PINs.

    Raises BadParameter as `hashed` does.
    """
    if given is None or not given.pin or not context.tenant.settings.pin.is_on:
        return None
    return hash_new_pin(context, given.pin, "PIN")


def private_entry(
    context: Context, uid: str, before: dict[str, Any], given: PinInput | None, new_hash: str | None
) -> dict[str, Any]:
    """Return what an account keeps privately after a `PINInfo`: nothing where that says nothing."""
    if new_hash is not None:
        return {pin_hash.KEY: pin_hash.pin_entry(context, uid, new_hash)}
    if given is not None and given.skipped and context.tenant.settings.pin.is_on:
        return {pin_hash.KEY: pin_hash.skipped_entry(context, before)}
    return {}


def refuse_missing(settings: TenantSettings, given: PinInput | None) -> None:
    """Raise PinMissing where a registration must have a PIN, and has none."""
    rules = settings.pin
    if rules.is_on and rules.required and rules.ask_on_registration and not (given and given.pin):
        raise e.PinMissing


def _valid_digits(rules: Pins, shown: str, name: str) -> str:
    digits = one_time_tokens.digits_in(shown)
    is_plain = digits.isascii() and digits.isdigit()
    if not is_plain or not rules.min_length <= len(digits) <= rules.max_length:
        lengths = (
            f"{rules.min_length}"
            if rules.min_length == rules.max_length
            else f"{rules.min_length} to {rules.max_length}"
        )
        raise e.BadParameter(f"The {name} is not formatted correctly: {lengths} digits are expected.")
    if rules.common_check and is_common(digits):
        raise e.BadParameter(
            f"The {name} is one that everybody tries first: neither one digit over and over nor a row."
        )
    return digits


def is_common(digits: str) -> bool:
    """Return whether a PIN is one digit over and over, or a row such as 1234 and 9876."""
    steps = {(int(after) - int(before)) % 10 for before, after in pairwise(digits)}
    return steps in ({0}, {1}, {9})
