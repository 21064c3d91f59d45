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
from app.identity.authentication.federation import profile_refresh, token_handoff
from app.identity.authentication.federation import service as connections
from app.identity.authentication.sign_in import completion
from app.identity.authentication.sign_in.pending_sign_in import Authentication
from app.identity.credentials.passkeys import store as passkey_store
from app.identity.credentials.tokens import service as tokens
from app.identity.directory.accounts import linked_identities
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts import store as account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.linked_identities import Identity
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose

_OWN: Final = linked_identities.OWN_PROVIDER.lower()


@contract.sign_in.implements
def sign_in(context: Context, req: contract.Ping) -> Login:
    """Return the program's session of a browser sign-in that is complete and recorded already."""
    account, methods, provider = token_handoff.redeem_sign_in(
        context, token_handoff.find_finished(context, _guid(req.client_guid))
    )
    before = replace(account, logins=max(0, account.logins - 1))
    return completion.to_login(
        completion.begin_session(context, before, Authentication(methods, provider), req.fields_)
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
    remove(context, account, provider, req.provider_id, suppress_webhook=req.suppress_webhook)
    return Deleted()


@contract.refresh_profile.implements
def refresh_profile(context: Context, req: contract.RefreshProfile) -> Profile:
    account = profile_refresh.refresh(context, accounts.current(context))
    return accounts.profile_for_owner(context, account, None)


def remove(
    context: Context, account: Account, provider: str, subject: str, *, suppress_webhook: bool = False
) -> Account:
    """Unlink an identity; return the changed account.

    Raises IdentityElsewhere, and LastSignInMethod where no other sign-in method remains, also under concurrent removals.
    """
    fresh = account_store.lock(context, account.uid) or account
    stored = next((identity for identity in linked_identities.of(fresh) if identity.key == (provider, subject)), None)
    if stored is None:
        raise refusals.IdentityElsewhere
    if is_last_sign_in_method(context, fresh, stored):
        raise refusals.LastSignInMethod
    return take_away(context, fresh, stored, suppress_webhook=suppress_webhook)


def take_away(context: Context, fresh: Account, item: Identity, *, suppress_webhook: bool = False) -> Account:
    """Unlink an identity of a locked account, and revoke sign-ins in progress, which may have begun with it."""
    after = connections.unlink(context, fresh, item, suppress_webhook=suppress_webhook)
    continuation_tokens.revoke_all(context, fresh.uid, ContinuationPurpose.SECOND_FACTOR, *token_handoff.KINDS)
    return after


def is_last_sign_in_method(context: Context, account: Account, item: Identity) -> bool:
    """Return whether the account has no other sign-in method under the tenant's current settings."""
    settings = context.tenant.settings
    has_passkey = settings.passkeys and any(
        passkey_store.signs_in_alone(passkey) for passkey in passkey_store.by_account(context, account.uid)
    )
    working = connections.active_names(context)
    return not linked_identities.can_sign_in_without(
        account, item.provider, item.subject, has_passkey=has_passkey, working=working
    )


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
