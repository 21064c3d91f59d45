"""The operations of access and refresh tokens outside OAuth."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import sessions as contract
from app.contract.groups import Deleted, Posted
from app.contract.sessions import Token
from app.identity.accounts import service as accounts
from app.identity.call import Call, TokenHolder
from app.identity.tokens import listing, service
from app.kit.clock import iso
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the area's operations."""
    server.implements(contract.info)(info)
    server.implements(contract.validate)(validate)
    server.implements(contract.invalidate)(invalidate)
    server.implements(contract.slide)(slide)
    server.implements(contract.impersonate)(impersonate)
    server.implements(contract.refresh)(refresh)
    server.implements(contract.revoke_refresh)(revoke_refresh)
    server.implements(contract.revoke_refresh_of_account)(revoke_refresh_of_account)
    server.implements(contract.validate_shown)(validate_shown)
    server.implements(contract.invalidate_shown)(invalidate_shown)
    server.implements(contract.refresh_shown)(refresh_shown)
    server.implements(contract.active_sessions)(active_sessions)


def info(call: Call, req: contract.OwnToken) -> contract.TokenFacts:
    facts = call.account.facts
    return contract.TokenFacts(
        provider=str(facts.get("provider") or "Email"),
        access_token=call.account.token,
        isrememberme=bool(facts.get("remember_me")),
        act=contract.Actor(sub=call.account.actor) if call.account.actor else None,
    )


def validate(call: Call, req: contract.OwnToken) -> Token:
    return _token(call.account)


def invalidate(call: Call, req: contract.EndOwnToken) -> Posted:
    _end(call, call.account.token_hash, req.prevent_refresh)
    call.ledger.record("token.ended", uid=call.account.uid)
    return Posted()


def slide(call: Call, req: contract.OwnToken) -> Token:
    return Token(access_token=call.account.token, expires_in=iso(service.slide(call, call.account)) or "")


def impersonate(call: Call, req: contract.Impersonate) -> Token:
    """The tokens say who acts for the account (RFC 8693 section 4.1), and so does whatever is done with them."""
    account = accounts.known(call, req.uid)
    if not account.is_active or account.is_deleted:
        raise e.AccountBlocked
    if account.login_disabled:
        raise e.LoginDisabled
    actor = str(call.machine["sub"]) if call.machine is not None else f"{call.tenant.name}@server"
    facts = {"provider": "Email", "agent": call.agent, "address": call.address, "act": {"sub": actor}}
    issued = service.issue(call, uid=account.uid, facts=facts)
    call.ledger.record("token.impersonated", uid=account.uid, act=actor)
    return _issued(issued)


def refresh(call: Call, req: contract.RefreshToken) -> Token:
    try:
        spent = service.rotate(call, req.refresh_token, client_id=None)
    except service.RefreshRefused:
        raise e.WrongRefreshToken from None
    account = accounts.by_uid(call, spent.uid) if spent.uid else None
    if account is None or not account.is_active or account.is_deleted or account.login_disabled:
        raise e.WrongRefreshToken
    issued = service.issue(
        call,
        uid=account.uid,
        session_id=spent.session_id,
        scope=spent.scope,
        facts=spent.facts,
        family_id=spent.family_id,
    )
    return _issued(issued)


def revoke_refresh(call: Call, req: contract.RefreshToken) -> Deleted:
    if not service.revoke_refresh(call, req.refresh_token):
        raise e.WrongRefreshToken
    return Deleted()


def revoke_refresh_of_account(call: Call, req: contract.EndRefreshTokens) -> Deleted:
    account = accounts.known(call, req.uid)
    service.revoke_refresh_of_account(call, account.uid)
    call.ledger.record("refresh_tokens.ended", uid=account.uid)
    return Deleted()


def validate_shown(call: Call, req: contract.ShownToken) -> Token:
    holder = _shown(call, req.access_token)
    if holder.expires_at <= call.now:
        raise e.ExpiredAccessToken
    return _token(holder)


def invalidate_shown(call: Call, req: contract.EndShownToken) -> contract.TokenEnded:
    """Takes a token's text, or the handle under which A30 lists it."""
    if not req.access_token:
        raise e.MissingAccessToken
    held = service.find(call, req.access_token)
    if not _end(call, held.token_hash if held else req.access_token, req.prevent_refresh):
        raise e.InvalidAccessToken
    call.ledger.record("token.ended", uid=held.uid if held else None)
    return contract.TokenEnded()


def refresh_shown(call: Call, req: contract.ProlongShownToken) -> Token:
    holder = _shown(call, req.access_token)
    if holder.expires_at <= call.now:
        raise e.InvalidAccessToken
    return Token(access_token=holder.token, expires_in=iso(service.prolong(call, holder, req.expires_in)) or "")


def active_sessions(call: Call, req: contract.ListSessions) -> contract.ActiveSessions:
    return contract.ActiveSessions(data=listing.live(call, req))


def _shown(call: Call, access_token: str | None) -> TokenHolder:
    if not access_token:
        raise e.MissingAccessToken
    holder = service.find(call, access_token)
    if holder is None:
        raise e.InvalidAccessToken
    return holder


def _end(call: Call, token_hash: str, prevent_refresh: bool) -> bool:
    return (service.revoke_both if prevent_refresh else service.revoke_access)(call, token_hash)


def _token(holder: TokenHolder) -> Token:
    return Token(access_token=holder.token, expires_in=iso(holder.expires_at) or "")


def _issued(issued: service.Issued) -> Token:
    return Token(
        access_token=issued.access_token,
        refresh_token=issued.refresh_token,
        expires_in=iso(issued.access_expires_at) or "",
    )
