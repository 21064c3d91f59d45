"""Identities of other providers. None can be configured yet, so that an account has its own alone; what is asked is refused by it."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import linking as contract
from app.contract.errors import federation as refusals
from app.contract.groups import Deleted, Posted
from app.contract.sign_in import Login
from app.identity.accounts import service as accounts
from app.identity.call import Call
from app.identity.tokens import service as tokens
from app.kit.server import Server

_OWN = "email"
"""The provider of an account's own identity, as its profile names it."""


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.sign_in)(sign_in)
    server.implements(contract.link)(link)
    server.implements(contract.link_by_guid)(link_by_guid)
    server.implements(contract.unlink)(unlink)


def sign_in(call: Call, req: contract.Ping) -> Login:
    del call
    _need_guid(req.client_guid)
    raise refusals.NoCallbackLoginOff


def link(call: Call, req: contract.Link) -> Posted:
    """Whoever signed in here has an account, which is never merged into another one."""
    accounts.own(call)
    if not req.candidate_token:
        if req.client_guid:
            raise refusals.NoCallbackLoginOff
        raise e.BadParameter.names("candidatetoken")
    candidate = tokens.find(call, req.candidate_token)
    if candidate is None or candidate.expires_at <= call.now:
        raise refusals.WrongCandidate
    raise refusals.NotLinkable


def link_by_guid(call: Call, req: contract.LinkByGuid) -> Posted:
    accounts.own(call)
    _need_guid(req.client_guid)
    raise refusals.NoCallbackLoginOff


def unlink(call: Call, req: contract.Unlink) -> Deleted:
    account = accounts.own(call)
    if not req.provider:
        raise e.BadParameter.names("provider")
    if not req.provider_id:
        raise e.BadParameter.names("providerid")
    provider = req.provider.strip().lower()
    if provider == _OWN:
        raise refusals.OwnIdentityKept if req.provider_id == account.profile_id else refusals.UnknownIdentity
    raise refusals.NothingToUnlink if provider in contract.PROVIDERS else refusals.UnknownProvider


def _need_guid(guid: str | None) -> None:
    if not guid:
        raise e.BadParameter.names("clientguid")
