"""Identities of external providers: programs sign in with them, link and unlink them, and read their profiles again."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from app.contract import errors as e
from app.contract.federation import errors as refusals
from app.contract.federation import identity_linking as contract
from app.contract.profile import Profile
from app.contract.shared_responses import Deleted, Posted
from app.contract.sign_in.operations import Login
from app.identity.authentication.federation import profile_refresh, token_handoff, unlinking
from app.identity.authentication.federation import service as connections
from app.identity.authentication.sign_in import allowed_methods, api_sign_in
from app.identity.authentication.sign_in.pending_sign_in import Authentication
from app.identity.credentials.tokens import service as tokens
from app.identity.directory.accounts import linked_identities
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context

_OWN: Final = linked_identities.OWN_PROVIDER.lower()


@contract.sign_in.implements
def sign_in(context: Context, req: contract.Ping) -> Login:
    """Return the program's session of a browser sign-in that is complete and recorded already."""
    account, methods, provider = token_handoff.redeem_sign_in(
        context, token_handoff.find_finished(context, _guid(req.client_guid))
    )
    before = replace(account, logins=max(0, account.logins - 1))
    allowed_methods.refuse(context, before, methods, is_again=True)
    return api_sign_in.to_login(
        api_sign_in.issue_session(context, before, Authentication(methods, provider), req.fields_)
    )


@contract.link.implements
def link(context: Context, req: contract.Link) -> Posted:
    account = accounts.current(context)
    _refuse_off(context)
    if not req.candidate_token:
        if req.client_guid:
            return _linked_by_guid(context, account, req.client_guid, suppress_webhook=req.suppress_webhook)
        raise e.BadParameter.names("candidatetoken")
    found = token_handoff.find_candidate(context, req.candidate_token)
    if found is None:
        raise _not_linkable(context, account, req.candidate_token)
    claimed, ticket = found
    _link(context, account, claimed, suppress_webhook=req.suppress_webhook)
    if not continuation_tokens.spend(context, ticket):
        raise refusals.WrongCandidate
    return Posted()


@contract.link_by_guid.implements
def link_by_guid(context: Context, req: contract.LinkByGuid) -> Posted:
    account = accounts.current(context)
    _refuse_off(context)
    return _linked_by_guid(context, account, _guid(req.client_guid), suppress_webhook=req.suppress_webhook)


@contract.unlink.implements
def unlink(context: Context, req: contract.Unlink) -> Deleted:
    account = accounts.current(context)
    if not req.provider:
        raise e.BadParameter.names("provider")
    if not req.provider_id:
        raise e.BadParameter.names("providerid")
    provider = req.provider.strip().lower()
    if provider == _OWN:
        raise refusals.OwnIdentityRequired if req.provider_id == account.profile_id else refusals.UnknownIdentity
    _refuse_not_there(context, account, provider, req.provider_id)
    unlinking.remove(context, account, provider, req.provider_id, suppress_webhook=req.suppress_webhook)
    return Deleted()


@contract.refresh_profile.implements
def refresh_profile(context: Context, req: contract.RefreshProfile) -> Profile:
    account = profile_refresh.refresh(context, accounts.current(context))
    return accounts.profile_for_owner(context, account, None)


def _linked_by_guid(context: Context, account: Account, guid: str, *, suppress_webhook: bool) -> Posted:
    found = token_handoff.find_finished(context, guid)
    claimed = token_handoff.identity_for(found)
    if claimed is None:
        raise refusals.NotLinkable
    _link(context, account, claimed, suppress_webhook=suppress_webhook)
    token_handoff.spend(context, found)
    return Posted()


def _link(context: Context, account: Account, claimed: ProviderIdentity, *, suppress_webhook: bool) -> None:
    """Link the identity to the locked account. Raises NotAuthenticated where the session was revoked at the same moment."""
    try:
        connections.link(context, account, claimed, suppress_webhook=suppress_webhook)
    except linked_identities.TooManyIdentities:
        raise refusals.NotLinkable from None
    except linked_identities.IdentifierTaken:
        raise refusals.IdentityTaken from None
    if tokens.find(context, context.token_holder.token) is None:
        raise e.NotAuthenticated


def _refuse_off(context: Context) -> None:
    if not context.tenant.settings.account_linking:
        raise refusals.AccountLinkingOff


def _not_linkable(context: Context, account: Account, token: str) -> Exception:
    """Return the error for a token that is no candidate. The token of another account's sign-in never merges accounts."""
    holder = tokens.find(context, token)
    if holder is None or holder.expires_at <= context.now:
        return refusals.WrongCandidate()
    other = accounts.by_uid(context, holder.uid)
    is_linked = other is not None and other.uid != account.uid and holder.claims.provider in _providers(other)
    return refusals.IdentityTaken() if is_linked else refusals.NotLinkable()


def _refuse_not_there(context: Context, account: Account, provider: str, subject: str) -> None:
    linked = {identity.key for identity in linked_identities.of(account)}
    if (provider, subject) in linked:
        return
    if provider not in contract.PROVIDERS and provider not in context.tenant.settings.connections:
        raise refusals.UnknownProvider
    if not linked:
        raise refusals.NothingToUnlink
    raise refusals.IdentityElsewhere if provider in _providers(account) else refusals.UnknownIdentity


def _providers(account: Account) -> set[str]:
    return {identity.provider for identity in linked_identities.of(account)}


def _guid(text: str | None) -> str:
    if not text:
        raise e.BadParameter.names("clientguid")
    return text
