"""Interactions: one sign-in in one tab, as server-side state with an unguessable id, bound to the browser that began it."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import String, bindparam, delete, select, update

from app.identity.authentication.sign_in.interaction_state import NEW, InteractionEnding, InteractionState
from app.identity.authentication.sign_in.tables import interactions
from app.identity.credentials import credential_store
from app.identity.credentials.credential_store import Credential
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from app.identity.platform.store.compiled_statements import Compiled, change_row, changes, insert_row
from app.kit import randomness
from app.kit.limits.rate_limits import OverLimit, Rate

EXPIRED_RETENTION: Final = timedelta(days=3)
"""How long an expired interaction is retained, from which the sign-in restarts: over a weekend."""
MAX_OF_NETWORK: Final = 10_000
"""The limit of open interactions of one network; the oldest is deleted first (decision 0333)."""
MAX_AT_ONCE: Final = 500
"""Interactions that one request deletes, of a network that holds too many."""
_ENDED_LIFETIME: Final = timedelta(minutes=10)
"""How long a second submit of the last form, or Back, finds an interaction that has ended."""
_UNCHECKED_RATE: Final = Rate(100, 3600)
"""Interactions of a network, which at this rate never holds too many: the longest sign-in page and
`EXPIRED_RETENTION` have fewer hours than that takes."""
_CURRENT: Final = "interaction"
_HELD: Final = "held_interaction"
T = interactions.c
_KEY = (T.tenant_id == bindparam("tenant"), T.interaction_hash == bindparam("hash"))
_BY_HASH = Compiled(select(interactions).where(*_KEY))


def _with_sign_in() -> Compiled:
    """Build the statement that also reads a pending sign-in: its token, and that account with its credentials."""
    token_hash = T.request["second_factor"].as_string()
    token = continuation_tokens.with_token(
        select(interactions).where(*_KEY), ContinuationPurpose.SECOND_FACTOR, token_hash
    )
    holder = continuation_tokens.HOLDER
    return Compiled(credential_store.with_credentials(account_store.with_account(token, holder), holder))


_WITH_SIGN_IN = _with_sign_in()
_WITH_STATE = Compiled(
    continuation_tokens.with_token(
        select(interactions).where(*_KEY), ContinuationPurpose.CONNECTION, bindparam("state_hash", type_=String)
    )
)
_ADD = insert_row(interactions)
_FINISH = Compiled(
    update(interactions)
    .where(*_KEY, T.is_done.is_(False))
    .values(
        is_done=True,
        request=bindparam("new_request", type_=T.request.type),
        expires_at=bindparam("retained_until", type_=T.expires_at.type),
    )
)
_EXTEND = Compiled(
    update(interactions)
    .where(*_KEY, T.is_done.is_(False))
    .values(expires_at=bindparam("retained_until", type_=T.expires_at.type))
)
_OF_NETWORK = (T.tenant_id == bindparam("tenant"), T.network == bindparam("network"), T.is_done.is_(False))
_NEWEST_SURPLUS = select(T.created_at).where(*_OF_NETWORK).order_by(T.created_at.desc()).offset(MAX_OF_NETWORK).limit(1)
_SURPLUS = (
    select(T.interaction_hash)
    .where(*_OF_NETWORK, T.created_at <= _NEWEST_SURPLUS.scalar_subquery())
    .order_by(T.created_at)
    .limit(MAX_AT_ONCE)
    .with_for_update(skip_locked=True)
    .cte("surplus")
)
DELETE_SURPLUS: Final = Compiled(
    delete(interactions).where(
        T.tenant_id == bindparam("tenant"), T.interaction_hash.in_(select(_SURPLUS.c.interaction_hash))
    )
)
"""Deletes the interactions beyond the limit of a network; PostgreSQL executes each part once, for any table size."""


class InteractionKind(StrEnum):
    """What began an interaction, and how it ends."""

    AUTHORIZE = "authorize"  # an application's request
    DEVICE = "device"  # the code of a device
    RETURN = "return"  # a visit of the pages: it ends at a return address, else at the profile


@dataclass(frozen=True)
class Interaction:
    """One sign-in in one tab."""

    interaction_id: str
    kind: InteractionKind
    state: InteractionState
    session_id: str | None
    is_done: bool
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class WaitingSignIn:
    """A sign-in that waits for its second factor, as it is stored."""

    token: ContinuationToken
    account: Account | None
    credentials: tuple[Credential, ...] | None = None
    """Of the account; None if they were not read."""


@dataclass(frozen=True)
class InteractionIds:
    """The id and browser secret of an interaction that is not stored yet, because a mail may contain the id first."""

    interaction_id: str
    binding: str = field(repr=False)


def new_ids() -> InteractionIds:
    """Return a new id and browser secret."""
    return InteractionIds(randomness.token(18), randomness.token(24))


def lifetime(context: Context) -> timedelta:
    """Return how long a page of a sign-in may stay open."""
    return timedelta(hours=context.tenant.settings.sign_in_page_hours)


def start(
    context: Context, kind: InteractionKind, state: InteractionState = NEW, ids: InteractionIds | None = None
) -> tuple[Interaction, str]:
    """Store a new interaction; return it and its browser secret, which all interactions of one browser share.

    The oldest unanswered interaction of a network that has too many is deleted.
    """
    ids = ids or new_ids()
    interaction_id = ids.interaction_id
    binding = (context.visit.binding if context.visit else None) or ids.binding
    now = context.now
    ends_at = now + lifetime(context)
    row = {
        "tenant_id": context.tenant.tenant_id,
        "interaction_hash": randomness.digest(interaction_id),
        "binding_hash": randomness.digest(binding),
        "kind": kind.value,
        "request": state.to_stored(),
        "session_id": None,
        "is_done": False,
        "created_at": now,
        "expires_at": ends_at + EXPIRED_RETENTION,
        "network": context.network,
    }
    context.work.run(_ADD, row)
    _make_room(context)
    return Interaction(interaction_id, kind, state, None, False, now, ends_at), binding


def _make_room(context: Context) -> None:
    tenant_id, network = context.tenant.tenant_id, context.network
    try:
        context.services.limits.count_against("interactions", _UNCHECKED_RATE, tenant_id, network)
    except OverLimit:
        context.work.run(DELETE_SURPLUS, {"tenant": tenant_id, "network": network})


def find(context: Context, interaction_id: str) -> Interaction | None:
    """Return the interaction if it is live and this browser began it; a copied address is useless to another browser."""
    return _live(context, interaction_id, context.work.one(_BY_HASH, _key(context, interaction_id)))


def find_with_sign_in(context: Context, interaction_id: str) -> tuple[Interaction | None, WaitingSignIn | None]:
    """Return the interaction as `find` does, and the sign-in that waits in it for its second factor, in one statement."""
    rows = context.work.all(_WITH_SIGN_IN, _key(context, interaction_id))
    interaction = _live(context, interaction_id, rows[0]) if rows else None
    if interaction is None or (token := continuation_tokens.token_in(rows[0])) is None:
        return interaction, None
    account = account_store.account_in(context, rows[0])
    return interaction, WaitingSignIn(token, account, credential_store.credentials_in(rows))


def find_with_state(context: Context, state: str) -> tuple[Interaction | None, ContinuationToken | None]:
    """Return the interaction that a provider's state names, as `find` does, and the token of the state, in one statement.

    Both are None in another browser, and the token where it was used up.
    """
    interaction_id, _, text = state.rpartition(".")
    row = context.work.one(_WITH_STATE, {**_key(context, interaction_id), "state_hash": randomness.digest(text)})
    if row is None or (interaction := _live(context, interaction_id, row)) is None:
        return None, None
    return interaction, continuation_tokens.token_in(row)


def _live(context: Context, interaction_id: str, row: Any) -> Interaction | None:
    if row is None or not _is_of_this_browser(context, row):
        return None
    interaction = _interaction(context, interaction_id, row)
    return _remember(context, interaction) if interaction.expires_at > context.now else None


def _remember(context: Context, interaction: Interaction) -> Interaction:
    context.remembered[_CURRENT] = interaction
    return interaction


def current(context: Context) -> Interaction | None:
    """Return the live interaction of this browser that the request named and read; None for a request without one."""
    found: Interaction | None = context.remembered.get(_CURRENT)
    return found


def find_retained(context: Context, interaction_id: str) -> Interaction | None:
    """Return the interaction if this browser began it, also an expired one, from which the sign-in can `restart`."""
    row = context.work.one(_BY_HASH, _key(context, interaction_id))
    if row is None or row.expires_at <= context.now or not _is_of_this_browser(context, row):
        return None
    return _interaction(context, interaction_id, row)


def extend(context: Context, interaction: Interaction) -> None:
    """Let an interaction that has not ended live as long as a new one."""
    retained_until = context.now + lifetime(context) + EXPIRED_RETENTION
    context.work.run(_EXTEND, {**_key(context, interaction.interaction_id), "retained_until": retained_until})


def restart(context: Context, interaction: Interaction, state: InteractionState) -> Interaction:
    """Restart an expired interaction under the same id, so that an open page can continue it.

    Args:
        state: the request alone, without what an earlier visitor of the browser did.
    """
    now, ends_at = context.now, context.now + lifetime(context)
    _change(context, interaction, request=state.to_stored(), created_at=now, expires_at=ends_at + EXPIRED_RETENTION)
    return replace(interaction, state=state, created_at=now, expires_at=ends_at)


def _is_of_this_browser(context: Context, row: Any) -> bool:
    binding_hash = randomness.digest(context.visit.binding) if context.visit and context.visit.binding else ""
    return hmac.compare_digest(binding_hash, row.binding_hash)


def _interaction(context: Context, interaction_id: str, row: Any) -> Interaction:
    ends_at = _ends_at(context, row.created_at, row.expires_at, is_done=row.is_done)
    state = InteractionState.from_stored(row.request)
    return Interaction(
        interaction_id, InteractionKind(row.kind), state, row.session_id, row.is_done, row.created_at, ends_at
    )


def _ends_at(context: Context, created_at: datetime, expires_at: datetime, *, is_done: bool) -> datetime:
    """Return until when an interaction is live. The previous release stores that time as the end of the row."""
    return (
        expires_at if is_done else max(expires_at - EXPIRED_RETENTION, min(created_at + lifetime(context), expires_at))
    )


def find_open(context: Context, interaction_id: str | None) -> Interaction | None:
    """Return the interaction of this browser's tab if it has not ended."""
    interaction = find(context, interaction_id) if interaction_id else None
    return interaction if interaction is not None and not interaction.is_done else None


def find_of_any_browser(context: Context, interaction_id: str) -> Interaction | None:
    """Return a live interaction that has not ended, whichever browser began it; the caller must not continue it as its own."""
    row = context.work.one(_BY_HASH, _key(context, interaction_id))
    interaction = _interaction(context, interaction_id, row) if row is not None and not row.is_done else None
    return interaction if interaction is not None and interaction.expires_at > context.now else None


def client_id_for(context: Context, interaction_id: str) -> str:
    """Return the client id of an interaction, whichever browser began it; empty where it has none or does not exist."""
    where = (T.tenant_id == context.tenant.tenant_id, T.interaction_hash == randomness.digest(interaction_id))
    row = context.work.one(select(T.request).where(*where))
    return (InteractionState.from_stored(row.request).client_id or "") if row is not None else ""


def save(context: Context, interaction: Interaction, state: InteractionState) -> Interaction:
    """Store the changed state; restart the interaction's lifetime unless it has ended."""
    if interaction.is_done:
        _change(context, interaction, request=state.to_stored())
        return _remember(context, replace(interaction, state=state))
    ends_at = context.now + lifetime(context)
    _change(context, interaction, request=state.to_stored(), expires_at=ends_at + EXPIRED_RETENTION)
    return _remember(context, replace(interaction, state=state, expires_at=ends_at))


def hold(context: Context, interaction: Interaction, state: InteractionState) -> Interaction:
    """Change the state as `save` does, but write it with the next change or the end of the interaction, else by `save_held`.

    For a state that the same request usually ends.
    """
    held = replace(interaction, state=state)
    context.remembered[_HELD] = held
    return _remember(context, held)


def save_held(context: Context) -> None:
    """Write the state that is held, unless it is stored by now."""
    held: Interaction | None = context.remembered.get(_HELD)
    if held is not None:
        save(context, held, held.state)


def save_or_start(
    context: Context, ids: Interaction | InteractionIds, kind: InteractionKind, state: InteractionState
) -> tuple[Interaction, str | None]:
    """Store the state in the interaction, or in a new one with these ids; return it, and a new one's browser secret."""
    return (save(context, ids, state), None) if isinstance(ids, Interaction) else start(context, kind, state, ids)


def lock(context: Context, interaction: Interaction) -> Interaction:
    """Read the interaction again, and lock it until the commit."""
    save_held(context)
    same = update(interactions).where(*_where(context, interaction)).values(is_done=T.is_done)
    row = context.work.one(same.returning(T.request, T.is_done, T.created_at, T.expires_at))
    if row is None:
        return replace(interaction, is_done=True)
    ends_at = _ends_at(context, row.created_at, row.expires_at, is_done=row.is_done)
    state = InteractionState.from_stored(row.request)
    return replace(interaction, state=state, is_done=row.is_done, expires_at=ends_at)


def finish(
    context: Context,
    interaction: Interaction,
    *,
    uid: str | None = None,
    problem: tuple[str, str] | None = None,
    outcome: str | None = None,
) -> bool:
    """End the interaction and record how, see `InteractionEnding`; returns False where another tab or a second submit ended it before."""
    ending = {
        **_key(context, interaction.interaction_id),
        "new_request": replace(interaction.state, ended=InteractionEnding(uid, problem, outcome)).to_stored(),
        "retained_until": context.now + _ENDED_LIFETIME,
    }
    context.remembered.pop(_HELD, None)
    return context.work.changed(_FINISH, ending) > 0


def _change(context: Context, interaction: Interaction, **values: Any) -> None:
    context.remembered.pop(_HELD, None)
    key = {"tenant_id": context.tenant.tenant_id, "interaction_hash": randomness.digest(interaction.interaction_id)}
    context.work.run(change_row(interactions, tuple(key), frozenset(values)), changes(key, values))


def _key(context: Context, interaction_id: str) -> dict[str, Any]:
    return {"tenant": context.tenant.tenant_id, "hash": randomness.digest(interaction_id)}


def _where(context: Context, interaction: Interaction) -> tuple[Any, ...]:
    return T.tenant_id == context.tenant.tenant_id, T.interaction_hash == randomness.digest(interaction.interaction_id)
