"""Identities of external providers: programs sign in with them, link and unlink them, and read their profiles again."""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.contract.federation import identity_linking_operations
from app.contract.profile import Profile
from app.contract.shared_responses import Deleted, Posted
from app.contract.sign_in.sign_in_operations import Login
from app.identity.authentication.federation import federated_sign_in, token_handoff, unlinking
from app.identity.authentication.sign_in import completion
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts import account_store, accounts, linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.account_store import IdentifierTaken
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.public_api.sign_in import sign_in_responses

_OWN: Final = linked_identities.OWN_PROVIDER.lower()


@identity_linking_operations.sign_in.implements
def sign_in(context: Context, req: identity_linking_operations.Ping) -> Login:
    """Return the program's session of a browser sign-in that is complete and recorded already."""
    account, methods, provider = token_handoff.redeem_sign_in(
        context, token_handoff.find_finished(context, _guid(req.client_guid))
    )
    outcome = completion.after_handoff(context, account, Authentication(methods, provider))
    return sign_in_responses.to_login(sign_in_responses.present(context, outcome, fields=req.fields_))


@identity_linking_operations.link.implements
def link(context: Context, req: identity_linking_operations.Link) -> Posted:
    account = accounts.current(context)
    _refuse_off(context)
    if not req.candidate_token:
        if req.client_guid:
            return _linked_by_guid(context, account, req.client_guid)
        raise errors.BadParameter.names("candidatetoken")
    handoff = token_handoff.find_candidate(context, req.candidate_token)
    if handoff is None:
        raise _not_linkable(context, account, req.candidate_token)
    claimed, ticket = handoff
    _link(context, account, claimed)
    if not continuation_tokens.spend(context, ticket):
        raise errors.WrongCandidate
    return Posted()


@identity_linking_operations.link_by_guid.implements
def link_by_guid(context: Context, req: identity_linking_operations.LinkByGuid) -> Posted:
    account = accounts.current(context)
    _refuse_off(context)
    return _linked_by_guid(context, account, _guid(req.client_guid))


@identity_linking_operations.unlink.implements
def unlink(context: Context, req: identity_linking_operations.Unlink) -> Deleted:
    account = accounts.current(context)
    if not req.provider:
        raise errors.BadParameter.names("provider")
    if not req.provider_id:
        raise errors.BadParameter.names("providerid")
    provider = req.provider.strip().lower()
    if provider == _OWN:
        raise errors.OwnIdentityRequired if req.provider_id == account.profile_id else errors.UnknownIdentity
    _refuse_not_there(context, account, provider, req.provider_id)
    unlinking.remove(context, account, provider, req.provider_id)
    return Deleted()


@identity_linking_operations.refresh_profile.implements
def refresh_profile(context: Context, req: identity_linking_operations.RefreshProfile) -> Profile:
    from app.identity.authentication.federation import profile_refresh  # noqa: PLC0415 - few apps use it

    account = profile_refresh.refresh(context, accounts.current(context))
    return accounts.profile_for_owner(context, account, None)


def _linked_by_guid(context: Context, account: Account, guid: str) -> Posted:
    handoff = token_handoff.find_finished(context, guid)
    claimed = token_handoff.identity_for(handoff)
    if claimed is None:
        raise errors.NotLinkable
    _link(context, account, claimed)
    token_handoff.spend(context, handoff)
    return Posted()


def _link(context: Context, account: Account, claimed: ProviderIdentity) -> None:
    """Link the identity to the locked account. Raises NotAuthenticated where the session was revoked at the same moment."""
    try:
        federated_sign_in.link(context, account, claimed)
    except linked_identities.TooManyIdentities:
        raise errors.NotLinkable from None
    except IdentifierTaken:
        raise errors.IdentityTaken from None
    if tokens.find(context, context.token_holder.token) is None:
        raise errors.NotAuthenticated


def _refuse_off(context: Context) -> None:
    if not context.tenant.settings.account_linking:
        raise errors.AccountLinkingOff


def _not_linkable(context: Context, account: Account, token: str) -> Exception:
    """Return the error for a token that is no candidate. The token of another account's sign-in never merges accounts."""
    holder = tokens.find(context, token)
    if holder is None or holder.expires_at <= context.now:
        return errors.WrongCandidate()
    other = account_store.by_uid(context, holder.uid)
    is_linked = other is not None and other.uid != account.uid and holder.claims.provider in _providers(other)
    return errors.IdentityTaken() if is_linked else errors.NotLinkable()


def _refuse_not_there(context: Context, account: Account, provider: str, subject: str) -> None:
    linked = {identity.key for identity in linked_identities.of(account)}
    if (provider, subject) in linked:
        return
    if provider not in identity_linking_operations.PROVIDERS and provider not in context.tenant.settings.connections:
        raise errors.UnknownProvider
    if not linked:
        raise errors.NothingToUnlink
    raise errors.IdentityElsewhere if provider in _providers(account) else errors.UnknownIdentity


def _providers(account: Account) -> set[str]:
    return {identity.provider for identity in linked_identities.of(account)}


def _guid(text: str | None) -> str:
    if not text:
        raise errors.BadParameter.names("clientguid")
    return text
