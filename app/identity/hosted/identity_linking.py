"""An identity of another provider that waits in an attempt for the one account it is to be linked to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from app.identity.authentication.federation import service as connections
from app.identity.authentication.sign_in import interactions, sessions
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.verification import service as verification
from app.identity.directory.accounts import linked_identities, store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.store import IdentifierTaken
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import NO_ACCOUNT

FEDERATED: Final = sessions.FEDERATED
_KEY: Final = "connected"


@dataclass(frozen=True)
class PendingIdentity:
    """What a provider said, and the account that was registered with it, or came by it, in this attempt.

    `is_proof`: its word proved the account's address a moment ago, so that it is to be linked.
    """

    claimed: ProviderIdentity
    uid: str = NO_ACCOUNT
    is_proof: bool = False
    is_wished: bool = False  # whoever signs in was told that it is connected


def store_pending(
    context: Context,
    interaction: Interaction,
    claimed: ProviderIdentity,
    uid: str = NO_ACCOUNT,
    *,
    is_proof: bool = False,
) -> Interaction:
    """Let an identity wait for the end of a sign-in."""
    held: dict[str, Any] = {"claimed": asdict(claimed), "uid": uid, "is_proof": is_proof}
    return interactions.add_facts(context, interaction, lifetime=interactions.LIFETIME, **{_KEY: held})


def mark_announced(context: Context, interaction: Interaction | None, *, connects: bool) -> Interaction | None:
    """Note whether the page on which somebody signs in said that what waits is connected: a browser is left with a page open, and
    whoever sits down at it next must not get somebody else's way in into their account unawares."""
    waits = pending_for(interaction)
    if interaction is None or waits is None or waits.is_wished == connects:
        return interaction
    held = {**asdict(waits), "is_wished": connects}
    return interactions.add_facts(context, interaction, lifetime=interactions.LIFETIME, **{_KEY: held})


def clear(context: Context, interaction: Interaction) -> Interaction:
    """Let none wait any more."""
    return (
        interactions.add_facts(context, interaction, lifetime=interactions.LIFETIME, **{_KEY: None})
        if pending_for(interaction)
        else interaction
    )


def pending_for(interaction: Interaction | None) -> PendingIdentity | None:
    """Return what waits in the attempt."""
    held = interaction.request.get(_KEY) if interaction is not None else None
    return PendingIdentity(**{**held, "claimed": ProviderIdentity(**held["claimed"])}) if held else None


def active_for(context: Context, interaction: Interaction | None) -> PendingIdentity | None:
    """Return what waits in the attempt, where the tenant has its connection still."""
    waits = pending_for(interaction)
    is_there = waits is not None and waits.claimed.provider in {
        one.name for one in connections.active_connections(context)
    }
    return waits if is_there else None


def is_proof_for(context: Context, interaction: Interaction | None, uid: str) -> bool:
    """Return whether this attempt's browser came from a provider to this very account, or registered it with what it brought,
    and nobody took that from the account since: one that waits is still its maker's."""
    waits = pending_for(interaction)
    if waits is None or NO_ACCOUNT in (waits.uid, uid) or waits.uid != uid:
        return False
    account = store.by_uid(context, uid)
    return account is None or linked_identities.is_known(account, waits.claimed)


def link_pending(context: Context, interaction: Interaction | None, account: Account) -> None:
    """Link what waits to the account, whose sign-in is whole: to the one that was registered with it, or that has the address
    which the provider vouches for. What its owner took away meanwhile stays away. Whoever else signs in here may not be who
    brought it; they link it on their own page.
    """
    waits = active_for(context, interaction)
    if waits is None:
        return
    fresh = store.change(context, account.uid, {}) or account  # locked: its owner may claim it in this very moment
    is_its = waits.uid == account.uid
    if not (_is_still(fresh, waits) if is_its else _is_theirs(context, fresh, waits)):
        return
    try:
        connections.link(context, fresh, waits.claimed)
    except IdentifierTaken as reason:
        context.audit.record("identity.not_linked", uid=account.uid, reason=type(reason).__name__)


def _is_still(account: Account, waits: PendingIdentity) -> bool:
    return waits.is_proof or linked_identities.is_known(account, waits.claimed)


def _is_theirs(context: Context, account: Account, waits: PendingIdentity) -> bool:
    email = (waits.claimed.email or "") if waits.claimed.email_verified else ""
    may = waits.is_wished and waits.uid == NO_ACCOUNT and context.tenant.settings.account_linking
    return may and bool(email) and verification.is_verified(account, email)
