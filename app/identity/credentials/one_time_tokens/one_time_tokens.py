"""One-time links and codes that verify access to an address. They are stored as digests and work once.

The link and the code of one message are spent together, and a newer message of the same purpose, account and subject replaces both.

A link has 256 random bits and is found by its digest. A code has six digits: it is found by its account and subject, each
attempt is counted before the comparison, a wrong one counts toward the account's lock, and five close the code.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from app.contract import errors
from app.contract.verification import verification_pages
from app.identity.credentials import account_locks
from app.identity.credentials.one_time_tokens import one_time_token_store
from app.identity.credentials.one_time_tokens.codes import CodeErrors
from app.identity.credentials.one_time_tokens.one_time_token_store import (
    NewOneTimeToken,
    OneTimeTokenFacts,
    Purpose,
    StoredToken,
)
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.login_attempts import account_lookup, login_records
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup, TypedIdentifier
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.encryption import derive_key
from app.kit import randomness
from app.kit.limits.rate_limits import OverLimit, Rate
from app.kit.operations.errors import ApiError
from app.kit.text.code_normalization import CODE_DIGITS, typed_code

MAX_ATTEMPTS = 5  # per code
LINK_MINUTES, RESET_MINUTES, CODE_MINUTES = 4320, 1440, verification_pages.CODE_MINUTES
"""Default lifetimes."""
_MAX_TOKEN_LENGTH = 200
_DAY = 86_400
_SERVER_SUPPLIED = Rate(20, 3600)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}\Z")  # 32 random bytes


@dataclass(frozen=True)
class OneTimeCode:
    """A new code. Its text exists nowhere else."""

    text: str
    code_id: str  # `find_code` finds it by this, without account and subject


class IssuedLink(NamedTuple):
    """A new link's token and a new code; empty where it was not asked for."""

    token: str
    code: OneTimeCode


@dataclass(frozen=True)
class OneTimeToken:
    """The content of a presented link or code."""

    purpose: Purpose
    uid: str
    subject: str  # the address or number that it was sent to, or another text that the caller of `new_link` chose
    facts: OneTimeTokenFacts
    expires_at: datetime
    token_id: str = ""


def new_link(
    context: Context,
    purpose: Purpose,
    uid: str,
    *,
    subject: str,
    minutes: int = LINK_MINUTES,
    facts: OneTimeTokenFacts | None = None,
) -> str:
    """Return the token of a new link, as `issue` does."""
    return issue(context, purpose, uid, subject=subject, link_minutes=minutes, facts=facts).token


def has_link_form(token: str) -> bool:
    """Return whether a text has the form of a link's token; a truncated one has not."""
    return _TOKEN.match(token.strip()) is not None


def new_code(
    context: Context,
    purpose: Purpose,
    uid: str,
    *,
    subject: str,
    minutes: int = CODE_MINUTES,
    facts: OneTimeTokenFacts | None = None,
) -> str:
    """Return a new code, as `issue` does."""
    return issue(context, purpose, uid, subject=subject, code_minutes=minutes, facts=facts).code.text


def context_of_change(context: Context, token: OneTimeToken) -> Context:
    """Return the context of the change that a token confirms: without webhooks where the request for it asked that."""
    return context.without_webhooks() if token.facts.get("is_silent") else context


def issue(
    context: Context,
    purpose: Purpose,
    uid: str,
    *,
    subject: str,
    link_minutes: int | None = None,
    code_minutes: int | None = None,
    facts: OneTimeTokenFacts | None = None,
) -> IssuedLink:
    """Return a new link, a new code, or both for one message, each where its lifetime is given.

    They replace the open message of the same purpose, account and subject.
    """
    token, code, new = "", OneTimeCode("", ""), []
    if link_minutes is not None:
        token = randomness.token()
        new.append(NewOneTimeToken(randomness.digest(token), None, link_minutes))
    if code_minutes is not None:
        code = OneTimeCode(randomness.digits(CODE_DIGITS), randomness.guid())
        new.append(NewOneTimeToken(code.code_id, _code_hashes(context, code.code_id, code.text)[0], code_minutes))
    one_time_token_store.add(context, new, purpose, uid, subject, facts=facts or OneTimeTokenFacts())
    return IssuedLink(token, code)


def find_code(context: Context, purpose: Purpose, code_id: str) -> OneTimeToken | None:
    """Return the content of the code with that id, in any state."""
    stored = one_time_token_store.code(context, purpose, code_id)
    return _one_time_token(stored) if stored is not None else None


def last_recipient(context: Context, purposes: Collection[Purpose], subject: str) -> str | None:
    """Return the uid of the account that was last sent a token of these purposes to an address."""
    return (
        stored.uid
        if (stored := one_time_token_store.newest_to_address(context, purposes, subject)) is not None
        else None
    )


def purpose_of_newest_code(context: Context, purposes: Sequence[Purpose], uid: str, subject: str) -> Purpose:
    """Return the purpose of the newest code that an account was sent to an address, or the first of `purposes` if there is none."""
    stored = one_time_token_store.newest_to_address(context, purposes, subject, uid=uid)
    return stored.purpose if stored is not None else purposes[0]


def peek_link(context: Context, purpose: Purpose, token: str) -> OneTimeToken:
    """Return the content of a link without using it, for the page to which an email leads.

    Raises:
        UnknownLink, UsedLink; ExpiredLink: expired or replaced by a newer one.
    """
    return _one_time_token(_find_open_link(context, purpose, token))


def find_used_link(context: Context, purpose: Purpose, token: str) -> OneTimeToken | None:
    """Return the content of a used link, for the page that reports the use and continues."""
    stored = _find_link(context, purpose, token)
    return _one_time_token(stored) if stored is not None and stored.state == one_time_token_store.USED else None


def find_link(context: Context, purpose: Purpose, token: str) -> OneTimeToken | None:
    """Return the content of a link in any state, to send a new one."""
    stored = _find_link(context, purpose, token)
    return _one_time_token(stored) if stored is not None else None


def spend_link(context: Context, purpose: Purpose, token: str) -> OneTimeToken:
    """Use a link in the request's transaction, so a later error leaves it unused, and the code of its message.

    Only one of several concurrent calls for one message succeeds. Raises as `peek_link` does.
    """
    stored = _find_open_link(context, purpose, token)
    account_store.lock(context, stored.uid)  # lock order: the account, then its tokens
    if not one_time_token_store.mark_used(context, stored.token_id, purpose, stored.uid, stored.subject):
        raise errors.UsedLink
    context.give_back_attempts()
    return _one_time_token(stored)


def spend_code(
    context: Context,
    purpose: Purpose,
    uid: str,
    code: str,
    *,
    subject: str,
    errors: CodeErrors,
    is_lock_solved: bool = False,
    identifier: TypedIdentifier | None = None,
) -> OneTimeToken:
    """Use a code in the request's transaction, and the link of its message. Call it before any write.

    Only one of several concurrent calls for one message succeeds. Wrong codes leave the link usable.

    The attempt is counted in a separate transaction. The code may have digits of any script, spaces and dashes.

    Args:
        errors: `MAIL_CODE` or `SMS_CODE`.
        is_lock_solved: whether the caller just solved a lock of the account; else a locked account is refused.
        identifier: given where the response must not reveal whether an account exists. Attempts count for its account, or
            for the identifier itself; every error other than `errors.wrong` needs the right code.

    Raises:
        TooManyRequests: too many attempts at codes for this address today.
        LockedForAWhile, LockedForCaptcha, LockedForSecurityQuestion, AccountBlocked: the account is locked.
        errors.wrong, errors.used, errors.expired, errors.closed: a code is closed after five wrong attempts or by a
            newer code.
    """
    token = check_code(
        context, purpose, uid, code, subject=subject, errors=errors, is_lock_solved=is_lock_solved, identifier=identifier
    )  # fmt: skip
    spend_checked_code(context, token, errors=errors, is_lock_solved=is_lock_solved)
    return token


def check_code(
    context: Context,
    purpose: Purpose,
    uid: str,
    code: str,
    *,
    subject: str,
    errors: CodeErrors,
    is_lock_solved: bool = False,
    identifier: TypedIdentifier | None = None,
) -> OneTimeToken:
    """Check a code as `spend_code` does, but leave it unused, because the request may still fail for another reason."""
    lookup = _counted_lookup(context, uid, identifier)
    if not is_lock_solved and (lock := account_lookup.lock_of(context, lookup)):
        raise account_locks.error_of(context, lock)
    _count_daily_attempt(context, purpose, subject)
    stored = one_time_token_store.newest_code(context, purpose, uid, subject)
    if stored is None:
        if identifier is not None:  # the same statement as for an existing code, for the same duration
            with context.work.separate_transaction() as transaction:
                one_time_token_store.count_attempt(transaction, NO_ACCOUNT, context.now, MAX_ATTEMPTS)
        raise _count_failure(context, lookup, errors)
    with context.work.separate_transaction() as transaction:
        tries = one_time_token_store.count_attempt(transaction, stored.token_id, context.now, MAX_ATTEMPTS)
    hashes = _code_hashes(context, stored.token_id, typed_code(code))
    is_right = any(hmac.compare_digest(code_hash, stored.code_hash or "") for code_hash in hashes)
    if tries is None and identifier is not None and not is_right:
        raise _count_failure(context, lookup, errors)
    if tries is None:
        raise _unusable_error(context, one_time_token_store.newest_code(context, purpose, uid, subject), errors)
    if not is_right:
        if tries >= MAX_ATTEMPTS:
            with context.work.separate_transaction() as transaction:
                one_time_token_store.void(transaction, stored.token_id)
        raise _count_failure(context, lookup, errors)
    with context.work.separate_transaction() as transaction:
        one_time_token_store.uncount_attempt(transaction, stored.token_id)
    return _one_time_token(stored)


def spend_checked_code(
    context: Context, token: OneTimeToken, *, errors: CodeErrors, is_lock_solved: bool = False
) -> None:
    """Use a code that `check_code` accepted. Only one concurrent call for its message succeeds; raises errors.used, expired, closed.

    It resets the count of failures only if the tenant has neither second factors nor risk rules: else each code from a stolen
    mailbox would give its reader new attempts at the second factor.
    """
    account_store.lock(context, token.uid)  # as `spend_link` does
    if not one_time_token_store.mark_used(context, token.token_id, token.purpose, token.uid, token.subject):
        raise _unusable_error(
            context, one_time_token_store.newest_code(context, token.purpose, token.uid, token.subject), errors
        )
    context.give_back_attempts()
    settings = context.tenant.settings
    is_complete = settings.two_factor == "disabled" and not settings.risk.demands
    if is_lock_solved or is_complete:  # else only a complete sign-in resets the count
        login_records.reset_failures(context.work, token.uid, is_lock_solved=is_lock_solved)


def count_server_supplied(context: Context, uid: str, *, is_code: bool) -> None:
    """Count a token or code that the tenant's server supplies. Raises TokenLimitReached, CodeLimitReached."""
    try:
        context.services.limits.count_against(
            f"server_supplied {is_code}", _SERVER_SUPPLIED, context.tenant.tenant_id, uid
        )
    except OverLimit:
        raise (errors.CodeLimitReached if is_code else errors.TokenLimitReached) from None


def close(
    context: Context,
    uid: str,
    purpose: Purpose | None = None,
    *,
    subject: str | None = None,
    except_purpose: Purpose | None = None,
) -> None:
    """Close an account's open tokens: of one purpose, of all, or of all except one; for one subject or for all."""
    one_time_token_store.close_all(context, uid, purpose, subject, except_purpose)


def close_addressed(
    context: Context, uid: str, purpose: Purpose, address: str, until: datetime | None = None, *, spared: str = ""
) -> None:
    """Close open tokens whose subject begins with that address, except with `spared`; with `until` only those that expire by then."""
    one_time_token_store.close_addressed(context, uid, purpose, address, until, spared)


def close_later(context: Context, token: OneTimeToken) -> None:
    """Close open tokens of the same purpose and account that were sent after this one."""
    one_time_token_store.close_later(context, token.purpose, token.uid, token.expires_at)


def _find_link(context: Context, purpose: Purpose, token: str) -> StoredToken | None:
    token = token.strip()
    return (
        one_time_token_store.link(context, purpose, randomness.digest(token))
        if 0 < len(token) <= _MAX_TOKEN_LENGTH
        else None
    )


def _find_open_link(context: Context, purpose: Purpose, token: str) -> StoredToken:
    stored = _find_link(context, purpose, token)
    if stored is None:
        raise errors.UnknownLink
    if stored.state == one_time_token_store.USED:
        raise errors.UsedLink
    if stored.state != one_time_token_store.OPEN or stored.expires_at <= context.now:
        raise errors.ExpiredLink
    return stored


def _unusable_error(context: Context, code: StoredToken | None, errors: CodeErrors) -> ApiError:
    if code is not None and code.state == one_time_token_store.USED:
        return errors.used()
    if code is not None and code.state == one_time_token_store.OPEN and code.expires_at <= context.now:
        return errors.expired()
    return errors.closed()


def _counted_lookup(context: Context, uid: str, identifier: TypedIdentifier | None) -> AccountLookup:
    """Return the account or identifier for which a wrong code counts."""
    if identifier is None:
        return AccountLookup(
            context, TypedIdentifier("email", uid), account_store.by_uid(context, uid), is_hidden=False
        )
    lookup = account_lookup.find(context, identifier, is_hidden=True)
    if uid == NO_ACCOUNT or (lookup.holder is not None and lookup.holder.uid == uid):
        return lookup
    return replace(lookup, holder=account_store.by_uid(context, uid) or lookup.holder)


def _count_daily_attempt(context: Context, purpose: Purpose, address: str) -> None:
    """Count an attempt against the address's daily limit, across all its tokens: each new registration sends a new code."""
    limit = context.tenant.settings.limits.email_codes_tried_per_day
    if limit and purpose in (Purpose.EMAIL, Purpose.ADD_EMAIL):
        context.count_against("email_code", Rate(limit, _DAY), address)


def _count_failure(context: Context, lookup: AccountLookup, errors: CodeErrors) -> ApiError:
    """Count the failure and return its error."""
    if lookup.account is None and not lookup.is_hidden:  # the account was deleted meanwhile
        return errors.wrong()
    failure = account_lookup.count_failure(context, lookup)
    account_id = {"uid": lookup.account.uid} if lookup.account else {}
    context.audit.record("code.refused", **account_id, attempts=failure.attempts)
    return errors.wrong()


def _one_time_token(stored: StoredToken) -> OneTimeToken:
    return OneTimeToken(stored.purpose, stored.uid, stored.subject, stored.facts, stored.expires_at, stored.token_id)


def _code_hashes(context: Context, token_id: str, code: str) -> list[str]:
    """Return keyed digests of a code, bound to its id: one per secret, the present secret first."""
    message = f"{context.tenant.tenant_id} {token_id} {code}".encode("utf-8", "surrogatepass")
    keys = [derive_key(secret, "one-time codes") for secret in context.services.settings.secrets]
    return [hmac.new(key, message, hashlib.sha256).hexdigest() for key in keys]
