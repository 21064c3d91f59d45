"""Whom a sign-in names: an account, or a name that no account has. Both are locked, asked and refused alike."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from app.identity.accounts import service as accounts
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.sign_in.identifiers import Identifier
from app.identity.vault import derive


@dataclass(frozen=True)
class Sought:
    """Somebody whom a sign-in names."""

    account: Account | None
    name_hash: str  # keyed digest of the identifier's normal form
    is_hidden: bool  # whether nobody is to learn if there is such an account

    @property
    def key(self) -> str:
        """What tries are counted under: an account's own id, by whichever of its names it was called."""
        return self.account.uid if self.account else self.name_hash


def sought(call: Call, identifier: Identifier, account: Account | None, *, is_hidden: bool) -> Sought:
    """Return whom the identifier names, with what stays the same at every try and tells nothing of the name."""
    normal = accounts.normal(identifier.kind, identifier.value)
    return Sought(account, keyed(call, f"{identifier.kind} {normal}"), is_hidden)


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
    key = derive(call.house.settings.secret, "names of strangers")
    message = f"{call.tenant.tenant_id} {text}".encode("utf-8", "surrogatepass")
    return hmac.new(key, message, hashlib.sha256).hexdigest()
