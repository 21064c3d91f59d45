"""Signs in to the account of a verified identity, by the rules of a sign-in through a provider on our pages."""

from __future__ import annotations

from dataclasses import dataclass

from app.contract import errors
from app.contract.second_factors.challenge import FactorLogin
from app.identity.authentication.federation import federated_sign_in, native_credentials, offered_connections
from app.identity.authentication.federation.native_credentials import VerifiedIdentity
from app.identity.authentication.passwordless import federated_account, redemption
from app.identity.authentication.passwordless.federated_account import EmailUse
from app.identity.authentication.registration import account_registration, requirements
from app.identity.authentication.sign_in import completion
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.directory.accounts import linked_identities, provider_tokens
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.account_store import IdentifierTaken
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform.context import Context
from app.identity.public_api.sign_in import sign_in_responses


@dataclass(frozen=True)
class _Found:
    """An account, and whether it has the identity already."""

    account: Account
    is_linked: bool


def sign_in(
    context: Context, verified: VerifiedIdentity, authentication: Authentication
) -> tuple[FactorLogin, Account]:
    """Sign in to the account of the identity, and return it too; link it by a verified address, or register it.

    After a conflict with a concurrent request, such as the first sign-in of the same person, it is tried once more.

    Raises the errors of the operation.
    """
    position = context.audit.position()
    try:
        return _sign_in(context, verified, authentication)
    except federated_account.CONFLICTS:
        context.work.rollback()
        context.audit.drop_since(position)
    try:
        return _sign_in(context, verified, authentication)
    except (IdentifierTaken, linked_identities.NotLinked):
        raise errors.IdentityTaken from None


def _sign_in(
    context: Context, verified: VerifiedIdentity, authentication: Authentication
) -> tuple[FactorLogin, Account]:
    native_credentials.use_id_token(context, verified)
    identity = verified.identity
    if verified.tokens is not None:
        identity = provider_tokens.store_pending(context, identity, verified.tokens)
    account = _find(context, identity) or _find_by_email(context, identity, trusts_email=verified.trusts_email)
    outcome = completion.after_first_factor(context, account.account, authentication)
    login = sign_in_responses.present(context, outcome)
    # As on our pages, an account with a second factor gets an identity only after that.
    if login.second_factor_authentication is not None:
        return login, account.account
    linked = account.account if account.is_linked else federated_sign_in.link(context, account.account, identity)
    if not offered_connections.is_of_jwt_provider(identity.provider):
        return login, linked
    from app.identity.use_cases.accounts import provider_updates  # noqa: PLC0415 - few tenants have any

    return login, provider_updates.apply(context, linked, identity)


def _find(context: Context, identity: ProviderIdentity) -> _Found | None:
    """Return the account that has the identity. Raises NotLinked where it was removed concurrently."""
    holder = linked_identities.find_account(context, identity.provider, identity.subject)
    return _Found(linked_identities.record_use(context, holder, identity), is_linked=True) if holder else None


def _find_by_email(context: Context, identity: ProviderIdentity, *, trusts_email: bool) -> _Found:
    """Return the account with the verified address, or a new one with the identity.

    Raises:
        AccountLinkingOff, NotLinkable, RegistrationOff, PolicyNotAccepted, MalformedEmail and others: there is no such account.
    """
    may_register = context.tenant.settings.registration
    use = federated_account.email_use(context, identity, trusts_email=trusts_email, may_register=may_register)
    if use is EmailUse.SIGN_IN:
        account = federated_account.by_email(context, identity, links_identity=True)
        return _Found(account, linked_identities.is_known(account, identity))
    if use is not EmailUse.UNPROVEN:
        raise federated_account.REFUSALS[use]
    account_registration.require_enabled(context)
    requirements.refuse_without_identifiers(context.tenant.settings)
    return _Found(redemption.register(context, identity=identity, links_identity=True), is_linked=True)
