"""Linked identities on our own pages: which there are, one more, one less. A change asks for a proof that is minutes old."""

from __future__ import annotations

from app.contract import hub_identities as contract
from app.contract.errors import federation as refusals
from app.contract.hub import ConnectionView, Next
from app.contract.hub_self_service import Done
from app.identity.accounts import linked
from app.identity.accounts import store as accounts
from app.identity.accounts.account import Account
from app.identity.accounts.linked import Identity
from app.identity.call import Call
from app.identity.connections import service as connections
from app.identity.journeys import connecting, freshness, own_account
from app.identity.oauth import views as oauth_views
from app.identity.self_service import identities
from app.identity.sign_in import sessions
from app.kit import randomness
from app.kit.clock import iso
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.read)(read)
    server.implements(contract.connect)(connect)
    server.implements(contract.disconnect)(disconnect)


def read(call: Call, req: contract.OwnIdentitiesRead) -> contract.OwnIdentities:  # noqa: ARG001 - the session says whose
    session, account = own_account.owner(call)
    sessions.touch(call, session)
    titles = {one.name: one.title for one in connections.offered(call)}
    return contract.OwnIdentities(
        person=oauth_views.person(account),
        identities=[_shown(call, account, one) for one in linked.of(account)],
        connections=[ConnectionView(name=name, title=title) for name, title in _open_to(call, account, titles).items()],
        needs_password=not freshness.is_fresh(call, session),
        must_confirm=freshness.must_confirm(call, session, account),
    )


def connect(call: Call, req: contract.IdentityBegun) -> Next:
    """Lead the browser to the provider. Only this browser, with this session, finishes it."""
    known = own_account.proved(call, req)
    if not call.tenant.settings.account_linking:
        raise refusals.AccountLinkingOff
    connection = connections.find(call, req.provider)
    step = connecting.lead(call, connection, None, **{connecting.LINKS: known.session.session_id})
    return step.model_copy(update={"session": own_account.done(call, known).session})


def disconnect(call: Call, req: contract.IdentityNamed) -> Done:
    known = own_account.proved(call, req)
    account = accounts.change(call, known.account.uid, {}) or known.account  # its row is locked from here on
    one = next((one for one in linked.of(account) if _id(one) == req.id), None)
    if one is None:
        raise refusals.UnknownIdentity
    if identities.is_last_way_in(call, account, one):
        raise refusals.NothingToUnlink
    identities.take_away(call, account, one)
    return own_account.done(call, known)


def _shown(call: Call, account: Account, one: Identity) -> contract.LinkedView:
    return contract.LinkedView(
        id=_id(one),
        provider=one.provider,
        title=connections.title_of(call, one.provider),
        email=one.email or "",
        name=one.name or "",
        since=iso(one.linked_at),
        used_at=iso(one.used_at),
        is_last_way=identities.is_last_way_in(call, account, one),
    )


def _open_to(call: Call, account: Account, titles: dict[str, str]) -> dict[str, str]:
    """Return the connections where the account may have one more identity: none where it has one already."""
    held = linked.of(account)
    if not call.tenant.settings.account_linking or len(held) >= linked.MOST:
        return {}
    return {name: title for name, title in titles.items() if name not in {one.provider for one in held}}


def _id(one: Identity) -> str:
    """Return the name of an identity in our addresses: its subject is nobody's to read there."""
    return randomness.digest(f"{one.provider} {one.subject}")[:32]
