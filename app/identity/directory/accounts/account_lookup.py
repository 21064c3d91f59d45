"""Whom a caller names: an account, or a name that no account has. Both are locked, asked and refused alike."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from functools import cached_property

from app.identity.directory.accounts import first_verification, identifiers, login_records, store, unknown_identifiers
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.login_records import Failure, Lock
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context
from app.identity.platform.encryption import derive_key

_MOST_DRAWN = 3  # few people answer more


@dataclass(frozen=True)
class Identifier:
    """What was typed, and which kind it is."""

    kind: str  # email, username or phone
    value: str


@dataclass(frozen=True)
class AccountLookup:
    """Somebody whom a caller names."""

    context: Context
    identifier: Identifier
    holder: Account | None  # whose name it is
    is_hidden: bool  # whether nobody is to learn if there is such an account

    @cached_property
    def account(self) -> Account | None:
        """The account that is named. Where that is hidden, one that somebody made with an address that nobody proved is not."""
        is_anybodys = self.holder is not None and first_verification.is_unproven(
            self.context, self.holder, self.identifier.kind
        )
        return None if self.is_hidden and is_anybodys else self.holder

    @cached_property
    def name_hash(self) -> str:
        """A keyed digest of the identifier's normal form: the same at every try, and it tells nothing of the name."""
        return self.name_hashes[0]

    @cached_property
    def name_hashes(self) -> list[str]:
        """The same digest under each line of the secret: where it changes, what was counted under another line counts on."""
        normal = accounts.normalize(self.identifier.kind, self.identifier.value)
        secrets = self.context.services.settings.secrets
        return [keyed_digest(self.context, f"{self.identifier.kind} {normal}", secret) for secret in secrets]

    @property
    def key(self) -> str:
        """What tries are counted under: an account's own id, by whichever of its names it was called."""
        return self.account.uid if self.account else self.name_hash


def find(context: Context, identifier: Identifier, *, is_hidden: bool) -> AccountLookup:
    """Look an identifier up in any spelling of it; a text that cannot be an identifier costs no query."""
    form = identifiers.normal_form(identifier.kind, identifier.value)
    holder = store.by_identifier(context, identifier.kind, form) if form else None
    return AccountLookup(context, identifier, holder, is_hidden)


def lock_of(context: Context, lookup: AccountLookup) -> Lock | None:
    """Return the lock that holds, whoever it is. Where that is hidden both are asked: the time of the answer tells nothing."""
    held = login_records.lock_of(lookup.account) if lookup.account else None
    strange = unknown_identifiers.lock_of(context, lookup.name_hashes) if lookup.is_hidden else None
    return held if lookup.account else strange


def count_failure(context: Context, lookup: AccountLookup) -> Failure:
    """Add one failure, in a transaction of its own."""
    if lookup.account is None:
        return unknown_identifiers.count(context, lookup.name_hashes)
    with context.work.separate_transaction() as own:
        return login_records.count_failure(own, lookup.account, context.tenant.settings, context.now)


def question_for(context: Context, lookup: AccountLookup) -> str | None:
    """Return the id of the security question to ask: the same at every try.

    Somebody unknown, or without answers, gets one of the tenant's: drawn by the name, so that it stays too. The highest
    digest wins, so that a question that the tenant adds moves few.
    """
    asked = _answered(context, lookup) or list(context.tenant.settings.security_questions)
    return max(asked, key=lambda one: _rank(context, lookup, one), default=None)


def questions_for(context: Context, lookup: AccountLookup) -> list[str]:
    """Return the ids of the questions that were answered: of somebody unknown, or without answers, some drawn by the name."""
    if answered := _answered(context, lookup):
        return answered
    ranked = sorted(
        context.tenant.settings.security_questions, key=lambda one: _rank(context, lookup, one), reverse=True
    )
    count = 1 + int(_rank(context, lookup, "how many")[:8], 16) % _MOST_DRAWN
    return ranked[:count]


def _answered(context: Context, lookup: AccountLookup) -> list[str]:
    held = lookup.account.security_answers if lookup.account else {}
    return [one for one in context.tenant.settings.security_questions if one in held]


def _rank(context: Context, lookup: AccountLookup, question: str) -> str:
    return keyed_digest(context, f"{lookup.name_hash} {question}")


def keyed_digest(context: Context, text: str, secret: bytes | None = None) -> str:
    """Return a digest that only this installation can make, of this tenant: under the present secret, if under no other."""
    key = derive_key(secret or context.services.settings.secret, "names of strangers")
    message = f"{context.tenant.tenant_id} {text}".encode("utf-8", "surrogatepass")
    return hmac.new(key, message, hashlib.sha256).hexdigest()
