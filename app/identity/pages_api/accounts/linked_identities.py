"""The account page of linked identities. Every change requires a recent authentication."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

from app.contract import errors
from app.contract.federation.connection_completion import resolved
from app.contract.federation.pages import identity_pages
from app.contract.federation.pages.identity_pages import LinkableConnection, Shared
from app.contract.page_models import NoParameters
from app.contract.shared_responses import Posted
from app.contract.steps import StepResponse
from app.identity.authentication.federation import offered_connections, unlinking
from app.identity.authentication.federation.providers.openid import SCOPE
from app.identity.authentication.sign_in import reauthentication_rules
from app.identity.authentication.sign_in.interaction_state import InteractionState
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.directory.accounts import account_store, accounts, linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.linked_identities import Identity
from app.identity.pages_api import signed_in_account, views
from app.identity.pages_api.sign_in import federated_login
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.clock import iso

_KINDS: Final[Mapping[str, Shared]] = {
    "email": "email", "email_verified": "email", "picture": "picture",
    **dict.fromkeys(("full_name", "first_name", "middle_name", "last_name", "nick_name", "prefix", "suffix"), "name"),
}  # fmt: skip
"""What each claim of a mapping tells; every other tells details."""


@identity_pages.read.implements
def read(context: Context, req: NoParameters) -> identity_pages.OwnIdentities:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    return identity_pages.OwnIdentities(
        person=views.person(context, account),
        identities=[_shown(context, account, identity) for identity in linked_identities.of(account)],
        connections=_linkable(context, account),
        reauthentication=reauthentication_rules.required_reauthentication(context, session, account),
    )


@identity_pages.connect.implements
def connect(context: Context, req: identity_pages.LinkIdentityRequest) -> StepResponse:
    """Redirect the browser to the provider; only this browser, with this session, can finish the link."""
    session, _ = signed_in_account.require_account(context)
    if not context.tenant.settings.account_linking:
        raise errors.AccountLinkingOff
    connection = offered_connections.find(context, req.provider)
    return federated_login.redirect_to_provider(
        context, connection, None, InteractionState(linking_session_id=session.session_id)
    )


@identity_pages.disconnect.implements
def disconnect(context: Context, req: identity_pages.UnlinkIdentityRequest) -> Posted:
    account = accounts.current(context)
    account = account_store.lock(context, account.uid) or account
    item = next((identity for identity in linked_identities.of(account) if _id(identity) == req.id), None)
    if item is None:
        raise errors.UnknownIdentity
    if unlinking.lacking(context, account, item) is not None:
        raise errors.NothingToUnlink
    unlinking.take_away(context, account, item)
    return Posted()


def _shown(context: Context, account: Account, item: Identity) -> identity_pages.LinkedIdentityView:
    title, mark = offered_connections.title_and_mark(context, item.provider)
    return identity_pages.LinkedIdentityView(
        id=_id(item),
        provider=item.provider,
        title=title,
        mark=mark,
        email=item.email or "",
        name=item.name or "",
        since=iso(item.linked_at),
        used_at=iso(item.used_at),
        lacking=unlinking.lacking(context, account, item),
    )


def _linkable(context: Context, account: Account) -> list[LinkableConnection]:
    """Return the connections without an identity of this account, if it may link more."""
    linked = linked_identities.of(account)
    if not context.tenant.settings.account_linking or len(linked) >= linked_identities.MAX_IDENTITIES:
        return []
    offered, names = offered_connections.listed_connections(context), {identity.provider for identity in linked}
    return [
        LinkableConnection(name=item.name, title=item.title, mark=item.mark, shared=_shared(context, item.name))
        for item in offered
        if item.name not in names
    ]


def _shared(context: Context, name: str) -> list[Shared]:
    """Return what the provider of a connection tells: what its scopes ask for, and the fields of its mapping."""
    settings = resolved(name, context.tenant.settings.connections[name])
    scopes = set((settings.scope or (SCOPE if settings.issuer else "")).split())
    members = {str(member) for member in settings.claims} - {"subject"}
    if "email" in scopes or settings.emails_endpoint:
        members.add("email")
    if "profile" in scopes:
        members |= {"full_name", "picture", "profile_url"}
    kinds = {_KINDS.get(member, "details") for member in members} | (
        {"access"} if settings.keep_provider_tokens else set()
    )
    return [kind for kind in get_args(Shared) if kind in kinds]


def _id(item: Identity) -> str:
    """Return the id of an identity in our addresses, which must not reveal its subject."""
    return randomness.digest(f"{item.provider} {item.subject}")[:32]
