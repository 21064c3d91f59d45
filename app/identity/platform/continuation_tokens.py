"""Opaque texts that stand for a moment of a journey: a second-factor token, a validation token, a WebAuthn challenge.

A ticket is unguessable, lies as a digest, belongs to one tenant and one kind, ends by itself, and is used up by one
statement: of many at once one wins. What is short enough to be guessed is a code, and belongs to `proofs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import Column, Index, String, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.identity.platform.context import Context
from app.identity.platform.store.tables import Id, Instant, Json, tenant_table
from app.kit import randomness

tickets = tenant_table(
    "tickets",
    Column("kind", String(24), primary_key=True),  # service.TicketKind
    Column("ticket_hash", Id, primary_key=True),
    Column("uid", Id, nullable=False),  # `nobody` where it is nobody's yet
    Column("facts", Json, nullable=False),
    Column("state", String(16), nullable=False),  # open, and what its area makes of it
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_tickets_uid", "tenant_id", "uid", "kind"),
    Index("ix_tickets_expiry", "tenant_id", "expires_at"),
)

T = tickets.c
OPEN = "open"
NO_ACCOUNT = "nobody"
_MOST_LETTERS = 500


class ContinuationPurpose(StrEnum):
    """What a ticket is for: one of a kind opens nothing of another."""

    SECOND_FACTOR = "second_factor"  # mfa.md section 1: SecondFactorAuthenticationToken
    STEP_UP = "step_up"  # mfa.md section 7: SecondFactorValidationToken
    CONSENT = "consent"  # user.md row U83: ConsentToken
    PIN_SETTING = "pin_setting"  # user.md row U68: PINAuthToken
    PIN_SESSION = "pin_session"  # user.md row U67: session_token
    PASSKEY_CREATION = "passkey_creation"  # named by its challenge (WebAuthn section 7.1)
    PASSKEY_REQUEST = "passkey_request"  # named by its challenge (WebAuthn section 7.2)
    TRUSTED_BROWSER = "trusted_browser"
    OWN_FACTOR = "own_factor"  # what was sent to whoever adds a factor on our pages
    SMART_LOGIN = "smart_login"  # user.md section 8: clientguid
    PUSH = "push"
    DUO = "duo"
    CONNECTION = "connection"  # one way to another provider and back
    REQUEST_TOKEN = "request_token"  # account.md row A26
    CANDIDATE = "candidate"  # user.md row U29: candidatetoken
    CLIENT_GUID = "client_guid"  # user.md rows U13, U30
    SEEN = "seen"  # from where an account signed in


class TokenExists(Exception):
    """Another ticket of the kind has this text."""


@dataclass(frozen=True)
class ContinuationToken:
    """What a text stands for."""

    kind: ContinuationPurpose
    ticket_hash: str
    uid: str
    facts: dict[str, Any]
    state: str
    created_at: datetime
    expires_at: datetime
    text: str = field(default="", repr=False)  # known where it was shown or made

    def is_over(self, now: datetime) -> bool:
        return self.expires_at <= now


def issue(
    context: Context,
    kind: ContinuationPurpose,
    uid: str,
    *,
    lifetime: timedelta,
    facts: Mapping[str, Any] | None = None,
    text: str | None = None,
) -> ContinuationToken:
    """Keep a new ticket and return it with its text: a GUID, unless it is made elsewhere. Raises Taken for a text that is in use."""
    shown = text if text is not None else randomness.guid()
    made = ContinuationToken(
        kind, randomness.digest(shown), uid, dict(facts or {}), OPEN, context.now, context.now + lifetime, shown
    )
    row = {name: getattr(made, name) for name in ContinuationToken.__dataclass_fields__ if name != "text"}
    try:
        context.work.run(insert(tickets), {"tenant_id": context.tenant.tenant_id, **row})
    except IntegrityError:
        raise TokenExists from None
    return made


def renew(
    context: Context,
    kind: ContinuationPurpose,
    uid: str,
    text: str,
    lifetime: timedelta,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Keep a ticket of a text that is made elsewhere, in place of the one that there is; call it while the account is locked."""
    context.work.run(delete(tickets).where(
        T.tenant_id == context.tenant.tenant_id, T.kind == kind, T.ticket_hash == randomness.digest(text)
    ))  # fmt: skip
    issue(context, kind, uid, lifetime=lifetime, text=text, facts=facts)


def find(context: Context, kind: ContinuationPurpose, text: str | None) -> ContinuationToken | None:
    """Return what a text stands for, over or not (`is_over`); ended ones are kept for a while, used ones are gone."""
    if not text or len(text) > _MOST_LETTERS:
        return None
    found = by_hash(context, kind, randomness.digest(text))
    return replace(found, text=text) if found is not None else None


def by_hash(context: Context, kind: ContinuationPurpose, ticket_hash: str) -> ContinuationToken | None:
    """Return the ticket of that digest: for whoever keeps no text of it."""
    columns = [T[name] for name in ContinuationToken.__dataclass_fields__ if name != "text"]
    where = (T.tenant_id == context.tenant.tenant_id, T.kind == kind, T.ticket_hash == ticket_hash)
    row = context.work.one(select(*columns).where(*where))
    return ContinuationToken(**{**row._mapping, "kind": ContinuationPurpose(row.kind)}) if row is not None else None


def of_account(context: Context, kind: ContinuationPurpose, uid: str) -> list[ContinuationToken]:
    """Return an account's tickets of a kind that are not over, the newest first; their texts are not known."""
    columns = [T[name] for name in ContinuationToken.__dataclass_fields__ if name != "text"]
    where = (T.tenant_id == context.tenant.tenant_id, T.uid == uid, T.kind == kind, T.expires_at > context.now)
    rows = context.work.all(select(*columns).where(*where).order_by(T.created_at.desc()))
    return [ContinuationToken(**{**row._mapping, "kind": ContinuationPurpose(row.kind)}) for row in rows]


def spend(context: Context, ticket: ContinuationToken) -> bool:
    """Use a ticket up, in the call's transaction: a refusal that follows leaves it. Of many at once one is told True."""
    return context.work.changed(delete(tickets).where(*_one(context, ticket), T.expires_at > context.now)) > 0


def add_facts(context: Context, ticket: ContinuationToken, **facts: Any) -> ContinuationToken:
    """Keep facts beside those that are there."""
    after = replace(ticket, facts={**ticket.facts, **facts})
    context.work.run(update(tickets).where(*_one(context, ticket)).values(facts=after.facts))
    return after


def change_state(context: Context, ticket: ContinuationToken, state: str, **facts: Any) -> bool:
    """Bring a ticket from the state in which it was read to another; of many at once one is told True."""
    where = (*_one(context, ticket), T.state == ticket.state, T.expires_at > context.now)
    return context.work.changed(update(tickets).where(*where).values(state=state, facts={**ticket.facts, **facts})) > 0


def revoke_all(context: Context, uid: str, *kinds: ContinuationPurpose) -> None:
    """End an account's tickets of some kinds."""
    context.work.run(delete(tickets).where(T.tenant_id == context.tenant.tenant_id, T.uid == uid, T.kind.in_(kinds)))


def _one(context: Context, ticket: ContinuationToken) -> tuple[Any, ...]:
    return T.tenant_id == context.tenant.tenant_id, T.kind == ticket.kind, T.ticket_hash == ticket.ticket_hash
