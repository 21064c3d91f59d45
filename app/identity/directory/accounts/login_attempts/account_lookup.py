"""Looks accounts up by identifier and treats unknown identifiers alike: the same locks, questions and errors."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine import Row

from app.identity.directory.accounts import account_store, identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records, unknown_identifiers
from app.identity.directory.accounts.login_attempts.login_records import AccountLock, Failure
from app.identity.directory.accounts.unverified import first_verification
from app.identity.platform.context import Context
from app.identity.platform.encryption import derive_key
from app.kit.caching.cached_attribute import cached_attribute

_MAX_QUESTIONS = 3  # for unknown identifiers; few accounts answer more


@dataclass(frozen=True)
class TypedIdentifier:
    """An identifier as entered, and its kind."""

    kind: str  # email, username or phone
    value: str


@dataclass(frozen=True)
class AccountLookup:
    """The result of looking up an identifier, with or without an account."""

    context: Context
    identifier: TypedIdentifier
    holder: Account | None  # the account that has the identifier
    is_hidden: bool  # whether the caller must not learn if the account exists
    known_hashes: list[str] | None = None  # `name_hashes`, where the look-up needed them
    counted: Sequence[Row[Any]] | None = None  # failures under these hashes, as the look-up read them

    @cached_attribute
    def account(self) -> Account | None:
        """The account; None for an unverified account if its existence is hidden."""
        is_unverified = self.holder is not None and first_verification.is_unverified(
            self.context, self.holder, self.identifier.kind
        )
        return None if self.is_hidden and is_unverified else self.holder

    @cached_attribute
    def name_hash(self) -> str:
        """A keyed digest of the normalized identifier: stable, and it does not reveal the identifier."""
        return self.name_hashes[0]

    @cached_attribute
    def name_hashes(self) -> list[str]:
        """The digest under each secret, so that counters survive a rotation of the secret."""
        if self.known_hashes is not None:
            return self.known_hashes
        kind = self.identifier.kind
        return _name_hashes(self.context, kind, identifiers.normalize(kind, self.identifier.value))

    @property
    def key(self) -> str:
        """The key of attempt counters: the account's id, whichever identifier was used."""
        return self.account.uid if self.account else self.name_hash


def find(context: Context, identifier: TypedIdentifier, *, is_hidden: bool) -> AccountLookup:
    """Look an identifier up in any spelling of it; a text that cannot be an identifier costs no query."""
    normalized = identifiers.normal_form(identifier.kind, identifier.value)
    if normalized is None or not is_hidden:
        holder = account_store.by_identifier(context, identifier.kind, normalized) if normalized else None
        return AccountLookup(context, identifier, holder, is_hidden)
    name_hashes = _name_hashes(context, identifier.kind, normalized)
    holder, counted = unknown_identifiers.find(context, identifier.kind, normalized, name_hashes)
    return AccountLookup(context, identifier, holder, is_hidden, name_hashes, counted)


def _name_hashes(context: Context, kind: str, normalized: str) -> list[str]:
    return hashes_of(context, f"{kind} {normalized}")


def hashes_of(context: Context, name: str) -> list[str]:
    """Return the keyed digest of a name that attempts count under, with each secret."""
    return [keyed_digest(context, name, secret) for secret in context.services.settings.secrets]


def lock_of(context: Context, lookup: AccountLookup) -> AccountLock | None:
    """Return the lock as the look-up found it. If existence is hidden, both tables are read, so that the time of the response
    does not reveal the account.
    """
    account_lock = login_records.lock_of(lookup.account) if lookup.account else None
    identifier_lock = (
        unknown_identifiers.lock_of(context, lookup.name_hashes, lookup.counted) if lookup.is_hidden else None
    )
    return account_lock if lookup.account else identifier_lock


def count_failure(context: Context, lookup: AccountLookup) -> Failure:
    """Count a failed attempt in a separate transaction."""
    if lookup.account is None:
        return unknown_identifiers.count(context, lookup.name_hashes)
    with context.work.separate_transaction() as transaction:
        return login_records.count_failure(context.within(transaction), lookup.account)


def question_for(context: Context, lookup: AccountLookup) -> str | None:
    """Return the id of the security question to ask: the same at every attempt.

    For an unknown identifier, or an account without answers, the identifier's digest selects one of the tenant's questions.
    The highest digest wins, so that a new question of the tenant changes the selection of few identifiers.
    """
    questions = _answered(context, lookup) or list(context.tenant.settings.security_questions)
    return max(questions, key=lambda question: _rank(context, lookup, question), default=None)


def questions_for(context: Context, lookup: AccountLookup) -> list[str]:
    """Return the ids of the answered questions; for an unknown identifier or no answers, a selection by digest."""
    if answered := _answered(context, lookup):
        return answered
    ranked = sorted(
        context.tenant.settings.security_questions, key=lambda question: _rank(context, lookup, question), reverse=True
    )
    count = 1 + int(_rank(context, lookup, "how many")[:8], 16) % _MAX_QUESTIONS
    return ranked[:count]


def _answered(context: Context, lookup: AccountLookup) -> list[str]:
    answers = lookup.account.security_answers if lookup.account else {}
    return [question for question in context.tenant.settings.security_questions if question in answers]


def _rank(context: Context, lookup: AccountLookup, question: str) -> str:
    return keyed_digest(context, f"{lookup.name_hash} {question}")


def keyed_digest(context: Context, text: str, secret: bytes | None = None) -> str:
    """Return a keyed digest for this tenant, under the first secret by default."""
    key = derive_key(
        secret or context.services.settings.secret, "names of strangers"
    )  # the table of unknown identifiers holds its digests
    message = f"{context.tenant.tenant_id} {text}".encode("utf-8", "surrogatepass")
    return hmac.digest(key, message, "sha256").hex()
