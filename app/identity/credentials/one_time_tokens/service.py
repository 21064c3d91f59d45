"""Links and codes that prove that somebody holds an address. Kept as digests, used once, void after five wrong tries.

A link is long and unguessable, and is looked up by itself. A code is short: it is looked up by the account and what it
proves, each try is counted before it is compared, and a wrong one counts toward the account's lock.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from app.contract import captcha as contract
from app.contract import errors as e
from app.identity.credentials.captcha import service as captcha
from app.identity.credentials.one_time_tokens import store
from app.identity.credentials.one_time_tokens.purposes import Purpose
from app.identity.credentials.one_time_tokens.store import StoredToken
from app.identity.credentials.one_time_tokens.typed_codes import DIGITS, digits_in, is_code
from app.identity.directory.accounts import account_lookup, login_records
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts import store as accounts_store
from app.identity.directory.accounts.account_lookup import AccountLookup, Identifier
from app.identity.directory.accounts.identifiers import NOBODY
from app.identity.directory.accounts.login_records import Lock
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context
from app.identity.platform.encryption import derive_key
from app.kit import randomness
from app.kit.clock import iso
from app.kit.errors import ApiError
from app.kit.limits import OverLimit, Rate

MAX_ATTEMPTS = 5  # wrong ones, per code (interface limits.md section 4)
LINK_MINUTES, RESET_MINUTES, CODE_MINUTES = 4320, 1440, 5
"""How long they live, by default (interface limits.md section 2)."""
_MAX_TOKEN_LENGTH = 200
_DAY = 86_400
_SERVER_SUPPLIED = Rate(20, 3600)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}\Z")  # 32 random bytes


@dataclass(frozen=True)
class CodeErrors:
    """The four refusals of a code, which the interface numbers by the way it was sent."""

    wrong: type[ApiError]
    used: type[ApiError]
    expired: type[ApiError]
    closed: type[ApiError]

    @property
    def all(self) -> tuple[type[ApiError], ...]:
        return self.wrong, self.used, self.expired, self.closed


MAIL_CODE = CodeErrors(e.WrongMailCode, e.UsedMailCode, e.ExpiredMailCode, e.ClosedMailCode)
SMS_CODE = CodeErrors(e.WrongSmsCode, e.UsedSmsCode, e.ExpiredSmsCode, e.ClosedSmsCode)


@dataclass(frozen=True)
class Code:
    """A code just made; the only moment at which its text exists."""

    text: str
    code_id: str


@dataclass(frozen=True)
class OneTimeToken:
    """What a link or a code that was shown stands for."""

    kind: Purpose
    uid: str
    subject: str  # the address or number that it was sent to, as the sender named it
    facts: dict[str, Any]
    expires_at: datetime
    proof_id: str = ""


def new_link(
    context: Context,
    kind: Purpose,
    uid: str,
    *,
    subject: str,
    minutes: int = LINK_MINUTES,
    facts: Mapping[str, Any] | None = None,
) -> str:
    """Return the token of a new link; older ones of the same kind, account and subject are over."""
    token = randomness.token()
    store.add(context, randomness.digest(token), kind, uid, subject, code_hash=None, facts=facts or {}, minutes=minutes)
    return token


def has_link_form(token: str) -> bool:
    """Return whether a text could be the token of a link: what was cut off on its way cannot."""
    return _TOKEN.match(token.strip()) is not None


def new_code(
    context: Context,
    kind: Purpose,
    uid: str,
    *,
    subject: str,
    minutes: int = CODE_MINUTES,
    facts: Mapping[str, Any] | None = None,
) -> str:
    """Return a new code; older ones of the same kind, account and subject are over."""
    return issue_code(context, kind, uid, subject=subject, minutes=minutes, facts=facts).text


def issue_code(
    context: Context,
    kind: Purpose,
    uid: str,
    *,
    subject: str,
    minutes: int = CODE_MINUTES,
    facts: Mapping[str, Any] | None = None,
) -> Code:
    """Return a new code with the id that may name it in the place of account and subject."""
    code = Code(randomness.digits(DIGITS), randomness.guid())
    hashed = _code_hashes(context, code.code_id, code.text)[0]
    store.add(context, code.code_id, kind, uid, subject, code_hash=hashed, facts=facts or {}, minutes=minutes)
    return code


def find_code(context: Context, kind: Purpose, code_id: str) -> OneTimeToken | None:
    """Return what the code of that id stands or stood for."""
    found = store.code(context, kind, code_id)
    return _proof(found) if found is not None else None


def last_recipient(context: Context, kinds: Collection[Purpose], subject: str) -> str | None:
    """Return the id of whoever was last sent something of these kinds to an address."""
    return found.uid if (found := store.newest_to_address(context, kinds, subject)) is not None else None


def purpose_of_newest_code(context: Context, kinds: Sequence[Purpose], uid: str, subject: str) -> Purpose:
    """Return of which kind the last code is that an account was sent to an address; the first of them where there is none."""
    found = store.newest_to_address(context, kinds, subject, uid=uid)
    return Purpose(found.kind) if found is not None else kinds[0]


def peek_link(context: Context, kind: Purpose, token: str) -> OneTimeToken:
    """Return what a link stands for, without using it: for the page that a mail leads to.

    Raises:
        UnknownLink: 1063. UsedLink: 974. ExpiredLink: 975, over or replaced by a newer one.
    """
    return _proof(_find_open_link(context, kind, token))


def find_used_link(context: Context, kind: Purpose, token: str) -> OneTimeToken | None:
    """Return what a link that was used stood for: for the page that says so and leads on."""
    found = _find_link(context, kind, token)
    return _proof(found) if found is not None and found.state == store.USED else None


def find_link(context: Context, kind: Purpose, token: str) -> OneTimeToken | None:
    """Return what a link stands or stood for, whatever became of it: for sending a new one."""
    found = _find_link(context, kind, token)
    return _proof(found) if found is not None else None


def spend_link(context: Context, kind: Purpose, token: str) -> OneTimeToken:
    """Use a link, in the call's transaction: a refusal that follows leaves it unused. Of many at once one wins.

    Raises as `peek_link` does.
    """
    found = _find_open_link(context, kind, token)
    accounts_store.change(context, found.uid, {})  # everybody locks the account first, and its proofs after it
    if not store.mark_used(context, found.proof_id):
        raise e.UsedLink
    return _proof(found)


def spend_code(
    context: Context,
    kind: Purpose,
    uid: str,
    code: str,
    *,
    subject: str,
    errors: CodeErrors,
    is_lock_open: bool = False,
    name: Identifier | None = None,
) -> OneTimeToken:
    """Use a code, in the call's transaction; call it before anything is written. Of many at once one wins.

    The try is counted in a transaction of its own. Digits of any script, spaces and dashes are understood.

    Args:
        errors: `MAIL_CODE` or `SMS_CODE`.
        is_lock_open: whether a lock of the account was just opened; else a locked account is refused.
        name: what the caller named somebody by, where nobody is to learn who has an account. Tries count for whoever has
            the name, or else for the name; only the right code is told more than that it is wrong.

    Raises:
        TooManyRequests: too many codes were tried for this address today.
        LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked: the account is locked.
        errors.wrong, errors.used, errors.expired, errors.closed: as they say; a code is closed after five wrong tries or
            by a newer one.
    """
    proof = check_code(context, kind, uid, code, subject=subject, errors=errors, is_lock_open=is_lock_open, name=name)
    spend_checked_code(context, proof, errors=errors, is_lock_open=is_lock_open)
    return proof


def check_code(
    context: Context,
    kind: Purpose,
    uid: str,
    code: str,
    *,
    subject: str,
    errors: CodeErrors,
    is_lock_open: bool = False,
    name: Identifier | None = None,
) -> OneTimeToken:
    """Check a code as `spend_code` does, and leave it unused: for what may be refused for another reason afterwards."""
    who = _failure_counter(context, uid, name)
    if not is_lock_open and (lock := account_lookup.lock_of(context, who)):
        raise _lock_error(context, lock)
    _spend_daily_attempts(context, kind, subject)
    found = store.newest_code(context, kind, uid, subject)
    if found is None:
        if name is not None:  # a try at a code that was sent takes its time
            with context.work.separate_transaction() as own:
                store.count_attempt(own, NOBODY, context.now, MAX_ATTEMPTS)
        raise _count_failure(context, who, errors)
    with context.work.separate_transaction() as own:
        tries = store.count_attempt(own, found.proof_id, context.now, MAX_ATTEMPTS)
    hashes = _code_hashes(context, found.proof_id, digits_in(code))
    is_right = any(hmac.compare_digest(one, found.code_hash or "") for one in hashes)
    if tries is None and name is not None and not is_right:
        raise _count_failure(context, who, errors)
    if tries is None:
        raise _unusable_error(context, store.newest_code(context, kind, uid, subject), errors)
    if not is_right:
        if tries >= MAX_ATTEMPTS:
            with context.work.separate_transaction() as own:
                store.void(own, found.proof_id)
        raise _count_failure(context, who, errors)
    with context.work.separate_transaction() as own:
        store.uncount_attempt(own, found.proof_id)
    return _proof(found)


def spend_checked_code(
    context: Context, proof: OneTimeToken, *, errors: CodeErrors, is_lock_open: bool = False
) -> None:
    """Use the code that `check_code` found good. Of many at once one wins; raises errors.used, expired, closed.

    Where there are second factors, or a risk demands one, it begins no count of failures anew: whoever reads the mailbox would get
    another round of guesses at the factor by each code.
    """
    accounts_store.change(context, proof.uid, {})  # as `spend_link` does
    if not store.mark_used(context, proof.proof_id):
        raise _unusable_error(context, store.newest_code(context, proof.kind, proof.uid, proof.subject), errors)
    settings = context.tenant.settings
    is_whole = settings.two_factor == "disabled" and not settings.risk.demands
    if is_lock_open or is_whole:  # else only a sign-in that is whole begins anew
        login_records.reset_failures(context.work, proof.uid, is_lock_open=is_lock_open)


def spend_server_supplied(context: Context, uid: str, *, is_code: bool) -> None:
    """Count a token or a code that a server brings itself. Raises TokenLimitReached, CodeLimitReached (limits.md section 4)."""
    try:
        context.services.limits.spend(f"brought {is_code}", _SERVER_SUPPLIED, context.tenant.tenant_id, uid)
    except OverLimit:
        raise (e.CodeLimitReached if is_code else e.TokenLimitReached) from None


def close(
    context: Context,
    uid: str,
    kind: Purpose | None = None,
    *,
    subject: str | None = None,
    but: Purpose | None = None,
) -> None:
    """End what is open of an account: of one kind or of all, or of all but one; for one address or for all."""
    store.close_all(context, uid, kind, subject, but)


def close_addressed(context: Context, uid: str, kind: Purpose, address: str, until: datetime | None = None) -> None:
    """End what is open of a kind whose subject is an address and a moment, for that address; of what ends by then."""
    store.close_addressed(context, uid, kind, address, until)


def close_later(context: Context, proof: OneTimeToken) -> None:
    """End what is open of the proof's kind and account that was sent after it."""
    store.close_later(context, proof.kind, proof.uid, proof.expires_at)


def refuse_locked(context: Context, account: Account) -> None:
    """Refuse an account that is locked by too many failures, as sign-in does (interface user.md section 2.1).

    Raises LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked.
    """
    if (lock := login_records.lock_of(account)) is not None:
        context.audit.record("sign_in.refused", uid=account.uid, reason="locked", lock=lock.kind)
        raise _lock_error(context, lock)


def _find_link(context: Context, kind: Purpose, token: str) -> StoredToken | None:
    token = token.strip()
    return store.link(context, kind, randomness.digest(token)) if 0 < len(token) <= _MAX_TOKEN_LENGTH else None


def _find_open_link(context: Context, kind: Purpose, token: str) -> StoredToken:
    found = _find_link(context, kind, token)
    if found is None:
        raise e.UnknownLink
    if found.state == store.USED:
        raise e.UsedLink
    if found.state != store.OPEN or found.expires_at <= context.now:
        raise e.ExpiredLink
    return found


def _unusable_error(context: Context, code: StoredToken | None, errors: CodeErrors) -> ApiError:
    if code is not None and code.state == store.USED:
        return errors.used()
    if code is not None and code.state == store.OPEN and code.expires_at <= context.now:
        return errors.expired()
    return errors.closed()


def _failure_counter(context: Context, uid: str, name: Identifier | None) -> AccountLookup:
    """Return for whom a wrong code counts: whoever has the name that was given, or else the name."""
    if name is None:
        return AccountLookup(context, Identifier("email", uid), accounts.by_uid(context, uid), is_hidden=False)
    lookup = account_lookup.find(context, name, is_hidden=True)
    if uid == NOBODY or (lookup.holder is not None and lookup.holder.uid == uid):
        return lookup
    return replace(lookup, holder=accounts.by_uid(context, uid) or lookup.holder)


def _lock_error(context: Context, lock: Lock) -> ApiError:
    if lock.kind == "Captcha":
        return e.LockedForCaptcha(data=contract.Lock(captcha=captcha.challenge(context)).told())
    if lock.kind == "SecurityQuestion":
        return e.LockedForSecurityQuestion()
    if lock.kind == "Block":
        return e.AccountBlocked()
    return e.LockedForAWhile(data={"LoginLockedTimeout": iso(lock.until)})


def _spend_daily_attempts(context: Context, kind: Purpose, address: str) -> None:
    """Spend from what may be guessed for an address, over every proof of it: who registers again gets a new code each time."""
    most = context.tenant.settings.limits.email_codes_tried_per_day
    if most and kind in (Purpose.EMAIL, Purpose.ADD_EMAIL):
        context.spend("email_code", Rate(most, _DAY), address)


def _count_failure(context: Context, lookup: AccountLookup, errors: CodeErrors) -> ApiError:
    """Count the failure and return its refusal."""
    if lookup.account is None and not lookup.is_hidden:  # the account is gone meanwhile
        return errors.wrong()
    failure, lockout = account_lookup.count_failure(context, lookup), context.tenant.settings.lockout
    named = {"uid": lookup.account.uid} if lookup.account else {}
    context.audit.record("code.refused", **named, attempts=failure.attempts)
    if named and failure.is_locked and failure.attempts == lockout.maximum_failed_attempts:
        context.audit.record("account.locked", **named, lock=lockout.type)
    return errors.wrong()


def _proof(sent: StoredToken) -> OneTimeToken:
    return OneTimeToken(Purpose(sent.kind), sent.uid, sent.subject, sent.facts, sent.expires_at, sent.proof_id)


def _code_hashes(context: Context, proof_id: str, code: str) -> list[str]:
    """Digests that only this installation can make, of this code alone: the first under the present secret."""
    message = f"{context.tenant.tenant_id} {proof_id} {code}".encode("utf-8", "surrogatepass")
    keys = [derive_key(secret, "one-time codes") for secret in context.services.settings.secrets]
    return [hmac.new(key, message, hashlib.sha256).hexdigest() for key in keys]


__all__ = [
    "CODE_MINUTES", "LINK_MINUTES", "MAIL_CODE", "NOBODY", "RESET_MINUTES", "SMS_CODE", "Code", "CodeErrors", "OneTimeToken",
    "Purpose", "last_recipient", "check_code", "close", "close_addressed", "close_later", "digits_in",
    "has_link_form", "is_code", "issue_code", "purpose_of_newest_code", "find_link", "find_code", "new_code", "new_link", "peek_link",
    "refuse_locked", "spend_server_supplied", "spend_checked_code", "spend_code", "spend_link", "find_used_link",
]  # fmt: skip
