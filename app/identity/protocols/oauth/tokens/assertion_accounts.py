"""The account that an assertion names, in the way that the tenant registered its issuer; some issuers create it (RFC 7523 section 3).

A new account comes about by the rules of a sign-in through a provider: registration must be on, addresses be admitted, and an
address that another account has leads there only where issuer and tenant link accounts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.contract import errors
from app.contract.applications.settings import TrustedIssuer
from app.identity.authentication.federation import federated_sign_in
from app.identity.authentication.passwordless import federated_account, redemption
from app.identity.authentication.passwordless.federated_account import EmailUse
from app.identity.authentication.registration import account_registration, requirements
from app.identity.directory.accounts import account_store, accounts, linked_identities
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.account_store import IdentifierTaken
from app.identity.directory.identity_provider import ProviderIdentity, identity_from_claims
from app.identity.platform.context import Context
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import rate_limits
from app.kit.operations.errors import ApiError

CONFLICTS = (IdentifierTaken, errors.EmailRegistered, errors.ClosedLink, errors.UnknownAccount)
"""A concurrent request linked the identity or the address to another account."""


class AccountRefused(Exception):
    """The assertion names no account, and creates none. The text is for the audit log."""


@dataclass(frozen=True)
class Named:
    """An account, and the `identity` to link once the sign-in is complete."""

    account: Account
    identity: ProviderIdentity | None = None

    def link(self, context: Context) -> None:
        """Link the identity, and notify the account. Raises one of `CONFLICTS`."""
        if self.identity is not None:
            federated_sign_in.link(context, self.account, self.identity)


def find(context: Context, client: Application, trusted: TrustedIssuer, claims: Mapping[str, Any]) -> Named:
    """Return the account that the assertion names, or a new one.

    Raises AccountRefused, SlowDown, and one of `CONFLICTS`, after which the caller rolls back and tries again.
    """
    subject, email = str(claims["sub"]), claims.get("email")
    if trusted.subject == "identity":
        account = linked_identities.find_account(context, trusted.connection or "", subject)
        if account is None and trusted.creates_accounts:
            return _find_or_create(context, client, trusted, claims)
    elif trusted.subject == "email":
        holder = accounts.by_email(context, email) if isinstance(email, str) else None
        account = holder if holder is not None and is_verified(holder, str(email)) else None
    else:
        account = account_store.by_uid(context, subject)
    if account is None:
        raise AccountRefused("unknown subject")
    return Named(account)


def _find_or_create(context: Context, client: Application, trusted: TrustedIssuer, claims: Mapping[str, Any]) -> Named:
    """Return a new account, or the account that a concurrent assertion created: a second one would be refused for its address."""
    try:
        return _create(context, client, trusted, claims)
    except AccountRefused:
        found = linked_identities.find_account(context, trusted.connection or "", str(claims["sub"]))
        if found is None:
            raise
        return Named(found)


def _create(context: Context, client: Application, trusted: TrustedIssuer, claims: Mapping[str, Any]) -> Named:
    rate_limits.count_against(context, "oauth.asserted_account", rate_limits.ASSERTED_ACCOUNT, client.client_id)
    try:
        identity = identity_from_claims(trusted.connection or "", trusted.names, claims)
    except ProviderUnavailable:
        raise AccountRefused("unknown subject") from None
    if federated_account.requires_terms(context):
        raise AccountRefused(EmailUse.TERMS_NEEDED.value)
    may_register = context.tenant.settings.registration
    use = federated_account.email_use(context, identity, trusts_email=trusted.trusts_email, may_register=may_register)
    if use not in (EmailUse.SIGN_IN, EmailUse.UNPROVEN):
        raise AccountRefused(use.value)
    try:
        return _by_email(context, trusted, identity) if use is EmailUse.SIGN_IN else _without(context, identity)
    except CONFLICTS:
        raise
    except ApiError as refusal:
        raise AccountRefused(type(refusal).__name__) from None


def _by_email(context: Context, trusted: TrustedIssuer, identity: ProviderIdentity) -> Named:
    """Return the account with the address that the issuer verified, or a new one with it."""
    if not trusted.links_accounts and accounts.by_email(context, identity.email or "") is not None:
        raise AccountRefused(EmailUse.LINKING_OFF.value)
    account = federated_account.by_email(context, identity, links_identity=True)
    return Named(account, None if linked_identities.is_known(account, identity) else identity)


def _without(context: Context, identity: ProviderIdentity) -> Named:
    """Return a new account with the identity alone, because no trusted party has verified an address."""
    account_registration.require_enabled(context)
    requirements.refuse_without_identifiers(context.tenant.settings)
    return Named(redemption.register(context, identity=identity, links_identity=True))
