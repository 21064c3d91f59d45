"""Whom a caller names: an account, or a name that no account has. Both are locked, asked and refused alike."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from functools import cached_property

from app.identity.accounts import gate, proving, strangers
from app.identity.accounts import service as accounts
from app.identity.accounts.gate import Failure, Lock
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.vault import derive

_MOST_DRAWN = 3  # few people answer more


@dataclass(frozen=True)
class Identifier:
    """What was typed, and which kind it is."""

    kind: str  # email, username or phone
    value: str


@dataclass(frozen=True)
class Sought:
    """Somebody whom a caller names."""

    call: Call
    identifier: Identifier
    holder: Account | None  # whose name it is
    is_hidden: bool  # whether nobody is to learn if there is such an account

    @cached_property
    def account(self) -> Account | None:
        """The account that is named. Where that is hidden, one that somebody made with an address that nobody proved is not."""
        is_anybodys = self.holder is not None and proving.is_anybodys(self.call, self.holder, self.identifier.kind)
        return None if self.is_hidden and is_anybodys else self.holder

    @cached_property
    def name_hash(self) -> str:
        """A keyed digest of the identifier's normal form: the same at every try, and it tells nothing of the name."""
        return self.name_hashes[0]

    @cached_property
    def name_hashes(self) -> list[str]:
        """The same digest under each line of the secret: where it changes, what was counted under another line counts on."""
        normal = accounts.normal(self.identifier.kind, self.identifier.value)
        secrets = self.call.house.settings.secrets
        return [keyed(self.call, f"{self.identifier.kind} {normal}", secret) for secret in secrets]

    @property
    def key(self) -> str:
        """What tries are counted under: an account's own id, by whichever of its names it was called."""
        return self.account.uid if self.account else self.name_hash


def named(call: Call, identifier: Identifier, *, is_hidden: bool) -> Sought:
    """Return whom an identifier names."""
    return Sought(call, identifier, account_of(call, identifier), is_hidden)


def account_of(call: Call, identifier: Identifier) -> Account | None:
    """Return the account that the identifier names."""
    find = {"email": accounts.by_email, "username": accounts.by_username, "phone": accounts.by_phone}[identifier.kind]
    return find(call, identifier.value)


def lock_of(call: Call, who: Sought) -> Lock | None:
    """Return the lock that holds, whoever it is. Where that is hidden both are asked: the time of the answer tells nothing."""
    held = gate.lock_of(who.account) if who.account else None
    strange = strangers.lock_of(call, who.name_hashes) if who.is_hidden else None
    return held if who.account else strange


def count_failure(call: Call, who: Sought) -> Failure:
    """Add one failure, in a transaction of its own."""
    if who.account is None:
        return strangers.count(call, who.name_hashes)
    with call.work.apart() as own:
        return gate.count_failure(own, who.account, call.tenant.settings, call.now)


def question_of(call: Call, who: Sought) -> str | None:
    """Return the id of the security question to ask: the same at every try.

    Somebody unknown, or without answers, gets one of the tenant's: drawn by the name, so that it stays too. The highest
    digest wins, so that a question that the tenant adds moves few.
    """
    asked = _answered(call, who) or list(call.tenant.settings.security_questions)
    return max(asked, key=lambda one: _rank(call, who, one), default=None)


def questions_of(call: Call, who: Sought) -> list[str]:
    """Return the ids of the questions that were answered: of somebody unknown, or without answers, some drawn by the name."""
    if answered := _answered(call, who):
        return answered
    ranked = sorted(call.tenant.settings.security_questions, key=lambda one: _rank(call, who, one), reverse=True)
    count = 1 + int(_rank(call, who, "how many")[:8], 16) % _MOST_DRAWN
    return ranked[:count]


def _answered(call: Call, who: Sought) -> list[str]:
    held = who.account.security_answers if who.account else {}
    return [one for one in call.tenant.settings.security_questions if one in held]


def _rank(call: Call, who: Sought, question: str) -> str:
    return keyed(call, f"{who.name_hash} {question}")


def keyed(call: Call, text: str, secret: bytes | None = None) -> str:
    """Return a digest that only this installation can make, of this tenant: under the present secret, if under no other."""
    key = derive(secret or call.house.settings.secret, "names of strangers")
    message = f"{call.tenant.tenant_id} {text}".encode("utf-8", "surrogatepass")
    return hmac.new(key, message, hashlib.sha256).hexdigest()
