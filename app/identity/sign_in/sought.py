"""Whom a sign-in names: an account, or a name that no account has. Both are locked, asked and refused alike."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from functools import cached_property, lru_cache

from app.identity.accounts import service as accounts
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.sign_in.identifiers import Identifier
from app.identity.vault import derive


@dataclass(frozen=True)
class Sought:
    """Somebody whom a sign-in names."""

    call: Call
    identifier: Identifier
    account: Account | None
    is_hidden: bool  # whether nobody is to learn if there is such an account

    @cached_property
    def name_hash(self) -> str:
        """A keyed digest of the identifier's normal form: the same at every try, and it tells nothing of the name."""
        normal = accounts.normal(self.identifier.kind, self.identifier.value)
        return keyed(self.call, f"{self.identifier.kind} {normal}")

    @property
    def key(self) -> str:
        """What tries are counted under: an account's own id, by whichever of its names it was called."""
        return self.account.uid if self.account else self.name_hash


def question_of(call: Call, who: Sought) -> str | None:
    """Return the id of the security question to ask: the same at every try.

    Somebody unknown, or without answers, gets one of the tenant's: drawn by the name, so that it stays too. The highest
    digest wins, so that a question that the tenant adds moves few.
    """
    answered = who.account.security_answers if who.account else {}
    configured = call.tenant.settings.security_questions
    asked = [one for one in configured if one in answered] or list(configured)
    return max(asked, key=lambda one: keyed(call, f"{who.name_hash} {one}"), default=None)


def keyed(call: Call, text: str) -> str:
    """Return a digest that only this installation can make, of this tenant."""
    key = _key(call.house.settings.secret)
    message = f"{call.tenant.tenant_id} {text}".encode("utf-8", "surrogatepass")
    return hmac.new(key, message, hashlib.sha256).hexdigest()


@lru_cache(maxsize=4)
def _key(secret: bytes) -> bytes:
    return derive(secret, "names of strangers")
