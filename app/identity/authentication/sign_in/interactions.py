"""Interactions: one sign-in in one tab, as server-side state with an unguessable id, bound to the browser that began it."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, select, update

from app.identity.authentication.sign_in.tables import interactions
from app.identity.credentials import store as credential_store
from app.identity.directory.accounts import store as account_store
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.identity.platform.store.compiled import Compiled, change_row, changes, insert_row
from app.kit import randomness

LIFETIME = timedelta(minutes=10)  # the pending federated request (interface federation.md section 4)
ENDED = "ended"  # the member of an interaction's request that records its outcome
SECOND_FACTOR = "second_factor"
"""The member with the hash of the continuation token of a sign-in that passed its first factor."""
A = interactions.c
_KEY = (A.tenant_id == bindparam("tenant"), A.attempt_hash == bindparam("hash"))
_BY_HASH = Compiled(select(interactions).where(*_KEY))


def _with_sign_in() -> Compiled:
    """Build the statement that also reads a pending sign-in: its token, and that account with its credentials."""
    token_hash = A.request[SECOND_FACTOR].as_string()
    token = continuation_tokens.with_token(
        select(interactions).where(*_KEY), A.tenant_id, ContinuationPurpose.SECOND_FACTOR, token_hash
    )
    holder = (A.tenant_id, continuation_tokens.HOLDER)
    return Compiled(credential_store.with_credentials(account_store.with_account(token, *holder), *holder))


_WITH_SIGN_IN = _with_sign_in()
_ADD = insert_row(interactions)
_FINISH = Compiled(
    update(interactions)
    .where(*_KEY, A.is_done.is_(False))
    .values(is_done=True, request=bindparam("new_request", type_=A.request.type))
)


@dataclass(frozen=True)
class Interaction:
    """One sign-in in one tab."""

    interaction_id: str
    kind: str  # authorize or return
    request: dict[str, Any]
    session_id: str | None
    is_done: bool
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class InteractionIds:
    """The id and browser secret of an interaction that is not stored yet, because a mail may contain the id first."""

    interaction_id: str
    binding: str = field(repr=False)


def new_ids() -> InteractionIds:
    """Return a new id and browser secret."""
    return InteractionIds(randomness.token(18), randomness.token(24))


def begin(
    context: Context,
    kind: str,
    request: dict[str, Any],
    ids: InteractionIds | None = None,
    *,
    lifetime: timedelta = LIFETIME,
) -> tuple[Interaction, str]:
    """Store a new interaction; return it and its browser secret, which goes into the interaction's cookie."""
    ids = ids or new_ids()
    interaction_id, binding = ids.interaction_id, ids.binding
    now = context.now
    row = {
        "tenant_id": context.tenant.tenant_id,
        "attempt_hash": randomness.digest(interaction_id),
        "binding_hash": randomness.digest(binding),
        "kind": kind,
        "request": request,
        "session_id": None,
        "is_done": False,
        "created_at": now,
        "expires_at": now + lifetime,
    }
    context.work.run(_ADD, row)
    return Interaction(interaction_id, kind, request, None, False, now, now + lifetime), binding


def find(context: Context, interaction_id: str, *, with_sign_in: bool = False) -> Interaction | None:
    """Return the interaction if it is live and this browser began it; a copied address is useless to another browser.

    `with_sign_in`: read the sign-in that waits for its second factor ahead.
    """
    rows = context.work.all(_WITH_SIGN_IN if with_sign_in else _BY_HASH, _key(context, interaction_id))
    row = rows[0] if rows else None
    if row is None or row.expires_at <= context.now:
        return None
    binding_hash = randomness.digest(context.visit.binding) if context.visit and context.visit.binding else ""
    if not hmac.compare_digest(binding_hash, row.binding_hash):
        return None
    if with_sign_in and (uid := continuation_tokens.read_ahead(context, row)) is not None:
        account_store.read_ahead(context, row)
        credential_store.read_ahead(context, uid, rows)
    return Interaction(
        interaction_id, row.kind, dict(row.request), row.session_id, row.is_done, row.created_at, row.expires_at
    )


def find_open(context: Context, interaction_id: str | None) -> Interaction | None:
    """Return the interaction of this browser's tab if it has not ended."""
    interaction = find(context, interaction_id) if interaction_id else None
    return interaction if interaction is not None and not interaction.is_done else None


def find_of_any_browser(context: Context, interaction_id: str) -> Interaction | None:
    """Return a live interaction that has not ended, whichever browser began it; the caller must not continue it as its own."""
    where = (A.tenant_id == context.tenant.tenant_id, A.attempt_hash == randomness.digest(interaction_id))
    row = context.work.one(select(interactions).where(*where, A.is_done.is_(False), A.expires_at > context.now))
    if row is None:
        return None
    return Interaction(
        interaction_id, row.kind, dict(row.request), row.session_id, row.is_done, row.created_at, row.expires_at
    )


def client_id_for(context: Context, interaction_id: str) -> str:
    """Return the client id of an interaction, whichever browser began it; empty where it has none or does not exist."""
    where = (A.tenant_id == context.tenant.tenant_id, A.attempt_hash == randomness.digest(interaction_id))
    row = context.work.one(select(A.request).where(*where))
    return str(row.request.get("client_id") or "") if row is not None else ""


def mark_signed_in(context: Context, interaction: Interaction, session_id: str) -> Interaction:
    """Record which session the interaction's own sign-in began."""
    _change(context, interaction, session_id=session_id)
    return Interaction(
        interaction.interaction_id,
        interaction.kind,
        interaction.request,
        session_id,
        interaction.is_done,
        interaction.created_at,
        interaction.expires_at,
    )


def add_facts(context: Context, interaction: Interaction, *, lifetime: timedelta, **facts: Any) -> Interaction:
    """Store facts in the interaction's request, and extend its lifetime."""
    request, ends = {**interaction.request, **facts}, max(interaction.expires_at, context.now + lifetime)
    _change(context, interaction, request=request, expires_at=ends)
    return replace(interaction, request=request, expires_at=ends)


def add_facts_or_begin(
    context: Context, ids: Interaction | InteractionIds, *, kind: str, lifetime: timedelta, facts: dict[str, Any]
) -> tuple[Interaction, str | None]:
    """Store facts in the interaction, or in a new one with these ids; return it, and a new one's browser secret."""
    if isinstance(ids, Interaction):
        return add_facts(context, ids, lifetime=lifetime, **facts), None
    return begin(context, kind, facts, ids, lifetime=lifetime)


def lock(context: Context, interaction: Interaction) -> Interaction:
    """Return the interaction as it is now, locked until the commit."""
    same = update(interactions).where(*_where(context, interaction)).values(is_done=A.is_done)
    row = context.work.one(same.returning(A.request, A.is_done, A.expires_at))
    if row is None:
        return replace(interaction, is_done=True)
    return replace(interaction, request=dict(row.request), is_done=row.is_done, expires_at=row.expires_at)


def finish(context: Context, interaction: Interaction, **ended: Any) -> bool:
    """End the interaction and record how it `ended`; returns False where another tab or a second submit ended it before."""
    ending = {**_key(context, interaction.interaction_id), "new_request": {**interaction.request, ENDED: ended}}
    return context.work.changed(_FINISH, ending) > 0


def _change(context: Context, interaction: Interaction, **values: Any) -> None:
    key = {"tenant_id": context.tenant.tenant_id, "attempt_hash": randomness.digest(interaction.interaction_id)}
    context.work.run(change_row(interactions, tuple(key), frozenset(values)), changes(key, values))


def _key(context: Context, interaction_id: str) -> dict[str, Any]:
    return {"tenant": context.tenant.tenant_id, "hash": randomness.digest(interaction_id)}


def _where(context: Context, interaction: Interaction) -> tuple[Any, ...]:
    return A.tenant_id == context.tenant.tenant_id, A.attempt_hash == randomness.digest(interaction.interaction_id)
