"""Pending identities: an interaction keeps a provider's identity until the sign-in links it to an account."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from app.identity.authentication.federation import federated_sign_in, offered_connections
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.interaction_state import InteractionState, PendingIdentity, PendingLink
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials.ldap import ldap_directories
from app.identity.directory.accounts import account_store, linked_identities
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.account_store import IdentifierTaken
from app.identity.directory.accounts.unverified import first_verification
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform.context import NO_ACCOUNT, Context

FEDERATED: Final = sessions.FEDERATED
_LIFETIME_SECONDS: Final = 3600
"""How long an interaction keeps a provider's identity, which the next visitor of the browser must not find."""


def store_pending(
    context: Context, interaction: Interaction, identity: ProviderIdentity, uid: str = NO_ACCOUNT
) -> Interaction:
    """Store an identity until the end of the sign-in."""
    pending = PendingIdentity(identity, uid)
    return interactions.save(context, interaction, _with_identity(context, interaction, pending))


def hold_pending(
    context: Context, interaction: Interaction, identity: ProviderIdentity, uid: str, *, is_email_verified: bool
) -> Interaction:
    """Hold the identity of an account until the end of the sign-in, as `interactions.hold` does."""
    pending = PendingIdentity(identity, uid, is_email_verified)
    return interactions.hold(context, interaction, _with_identity(context, interaction, pending))


def _with_identity(context: Context, interaction: Interaction, pending: PendingIdentity) -> InteractionState:
    return replace(interaction.state, identity=pending, identity_at=int(context.now.timestamp()))


def await_confirmation(context: Context, interaction: Interaction, identity: ProviderIdentity, uid: str) -> Interaction:
    """Store an identity until the account with its address signs in by another method (decision 0429)."""
    now = int(context.now.timestamp())
    changed = replace(
        interaction.state,
        identity=PendingIdentity(identity),
        identity_at=now,
        pending_link=PendingLink(identity, uid, now),
    )
    return interactions.save(context, interaction, changed)


def awaited_link(context: Context, interaction: Interaction) -> PendingLink | None:
    """Return the identity that waits until its account signs in, for an hour and while it can be linked."""
    link = interaction.state.pending_link
    if link is None or context.now.timestamp() > link.began_at + _LIFETIME_SECONDS:
        return None
    can_link = context.tenant.settings.account_linking and offered_connections.is_active(context, link.claimed.provider)
    return link if can_link else None


def mark_announced(context: Context, interaction: Interaction, *, connects: bool) -> Interaction:
    """Record whether the sign-in page announced that the pending identity will be linked.

    An identity that another visitor of the browser left behind must not be linked without notice.
    """
    pending = pending_for(context, interaction)
    if pending is None or pending.is_wished == connects:
        return interaction
    state = replace(interaction.state, identity=replace(pending, is_wished=connects))
    return interactions.save(context, interaction, state)


def clear(context: Context, interaction: Interaction) -> Interaction:
    """Remove the pending identity. One that waits until its account signs in stays: that may happen by another identity."""
    if interaction.state.identity is None:
        return interaction
    return interactions.save(context, interaction, replace(interaction.state, identity=None))


def cancel_link(context: Context, interaction: Interaction) -> Interaction:
    """Remove the identity that waits until its account signs in."""
    return interactions.save(context, interaction, replace(interaction.state, identity=None, pending_link=None))


def pending_for(context: Context, interaction: Interaction | None) -> PendingIdentity | None:
    """Return the pending identity of the interaction, for an hour."""
    if interaction is None:
        return None
    since = interaction.state.identity_at or interaction.created_at.timestamp()
    return interaction.state.identity if context.now.timestamp() <= since + _LIFETIME_SECONDS else None


def active_for(context: Context, interaction: Interaction | None) -> PendingIdentity | None:
    """Return the pending identity if its connection is still active."""
    pending = pending_for(context, interaction)
    is_active = pending is not None and offered_connections.is_active(context, pending.claimed.provider)
    return pending if is_active else None


def registering_for(context: Context, interaction: Interaction | None) -> PendingIdentity | None:
    """Return the active pending identity with which the person may register any address."""
    pending = active_for(context, interaction)
    return pending if pending and not offered_connections.is_of_organization(pending.claimed.provider) else None


def upstream_of(
    context: Context, interaction: Interaction | None, authentication: Authentication
) -> ProviderIdentity | None:
    """Return the identity of an organization's provider with which a session begins; None for a sign-in by anything else."""
    pending = (
        pending_for(context, interaction) if offered_connections.is_of_organization(authentication.provider) else None
    )
    return pending.claimed if pending is not None and pending.claimed.provider == authentication.provider else None


def remember_name(
    context: Context, session: BrowserSession, identity: ProviderIdentity | None, *, is_new: bool
) -> None:
    """Store whom a SAML provider signed in, so that a sign-out names the person there; nothing for any other sign-in.

    Args:
        is_new: whether the session has just begun.
    """
    if identity is not None and identity.upstream_name:
        from app.identity.authentication.sign_in.sessions import upstream_names  # noqa: PLC0415 - few tenants have any

        upstream_names.remember(context, session, identity, is_new=is_new)


def with_upstream(context: Context, session: BrowserSession, identity: ProviderIdentity) -> BrowserSession:
    """Return the account's session, which a silent sign-in by an organization's connection now belongs to, too."""
    if not offered_connections.is_of_organization(identity.provider):
        return session
    from app.identity.authentication.sign_in.sessions import upstream_names  # noqa: PLC0415 - few tenants have any

    return upstream_names.continue_session(context, session, identity)


def has_federated_login_for(context: Context, interaction: Interaction | None, uid: str) -> bool:
    """Return whether this browser signed in to the account, or registered it, with an identity that the account still has."""
    pending = pending_for(context, interaction)
    if pending is None or NO_ACCOUNT in (pending.uid, uid) or pending.uid != uid:
        return False
    account = account_store.by_uid(context, uid)
    return account is None or linked_identities.is_known(account, pending.claimed)


def still_opens(account: Account, pending: PendingIdentity) -> bool:
    """Return whether the identity that led to the account may still sign in to it: its owner may have removed either meanwhile."""
    is_of_address = pending.is_proof and is_verified(account, pending.claimed.email or "")
    return pending.uid == account.uid and (is_of_address or linked_identities.is_known(account, pending.claimed))


def link_pending(context: Context, interaction: Interaction, account: Account) -> Interaction:
    """Link the pending identity to the account after its complete sign-in.

    Only to the account that was registered with it, or that has the address which the provider verified; another account may
    be another person's, who can link it on the account page. An identity that the owner removed meanwhile stays removed.
    """
    _link_announced(context, interaction, account)
    if interaction.state.pending_link is None:
        return interaction
    link = awaited_link(context, interaction)
    interaction = interactions.save(context, interaction, replace(interaction.state, pending_link=None))
    if link is not None and link.uid == account.uid:
        _link_confirmed(context, link.claimed, account)
    return interaction


def _link_confirmed(context: Context, identity: ProviderIdentity, account: Account) -> None:
    """Link an identity to the account that signed in, if it still has the address as its own."""
    locked = account_store.lock(context, account.uid)
    if locked is None or first_verification.is_shared(locked) or not is_verified(locked, identity.email or ""):
        return
    _link(context, locked, identity)


def _link_announced(context: Context, interaction: Interaction, account: Account) -> None:
    pending = pending_for(context, interaction)
    if pending is not None and linked_identities.is_use_recorded(context, account, pending.claimed):
        follow_provider(context, account, pending.claimed)  # a second factor would be another request
        return
    pending = active_for(context, interaction)
    if pending is None:
        return
    locked = account_store.lock(context, account.uid) or account  # lock it, because its owner may claim it concurrently
    is_registered_with_it = pending.uid == account.uid
    if not (_is_still(locked, pending) if is_registered_with_it else _is_identity_of(context, locked, pending)):
        return
    _link(context, locked, pending.claimed if is_registered_with_it else pending.claimed.signed)


def _link(context: Context, account: Account, identity: ProviderIdentity) -> None:
    try:
        linked = federated_sign_in.link(context, account, identity)
    except IdentifierTaken as reason:
        context.audit.record("identity.not_linked", uid=account.uid, reason=type(reason).__name__)
    else:
        follow_provider(context, linked, identity)


def follow_provider(context: Context, account: Account, identity: ProviderIdentity) -> None:
    """Change an account as the provider of its identity decides, at each sign-in that is complete."""
    is_of_directory = ldap_directories.is_of_directory(identity.provider)
    decides = is_of_directory or bool(identity.decided) or offered_connections.is_of_jwt_provider(identity.provider)
    if not decides or not linked_identities.is_known(account, identity):
        return
    if is_of_directory:
        from app.identity.authentication.federation import directory_roles  # noqa: PLC0415 - few tenants have any

        directory_roles.apply(context, account, identity)
        return
    from app.identity.use_cases.accounts import provider_updates  # noqa: PLC0415 - few tenants have any

    provider_updates.apply(context, account, identity)


def _is_still(account: Account, pending: PendingIdentity) -> bool:
    return pending.is_proof or linked_identities.is_known(account, pending.claimed)


def _is_identity_of(context: Context, account: Account, pending: PendingIdentity) -> bool:
    email = (pending.claimed.email or "") if pending.claimed.email_verified else ""
    can_link = pending.is_wished and pending.uid == NO_ACCOUNT and context.tenant.settings.account_linking
    return can_link and bool(email) and is_verified(account, email)
