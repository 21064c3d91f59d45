"""Finds the account that an address from a provider signs in to, on our pages and in apps (decision 0130)."""

from __future__ import annotations

from enum import Enum
from typing import Final

from app.contract import errors
from app.contract.registration.form import TERMS
from app.identity.authentication.passwordless import redemption
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.directory.accounts import account_store, accounts, identifiers, linked_identities
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.account_store import IdentifierTaken
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.accounts.unverified import first_verification
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.directory.tenants import registration_form
from app.identity.platform.context import NO_ACCOUNT, Context

_EMAIL: Final = "email"
"""The field of the form that the address fills."""


class EmailUse(Enum):
    """The account that the address of an unlinked identity leads to."""

    SIGN_IN = "sign_in"
    """To the account with this address, or to a new one."""
    CONFIRM = "confirm"
    """To the account with this address, once its owner has signed in to it by another method: on pages (decision 0429)."""
    UNPROVEN = "unproven"
    """To nothing: the provider did not verify it, or the tenant does not trust that."""
    SHARED = "shared"
    """To nothing: another person may know the password of the account with this address."""
    LINKING_OFF = "linking_off"
    REGISTRATION_OFF = "registration_off"
    TERMS_NEEDED = "terms_needed"
    FIELDS_NEEDED = "fields_needed"
    """To a new account whose required fields the provider does not fill: the form asks for them."""


CONFLICTS: Final = (
    IdentifierTaken,
    linked_identities.NotLinked,
    errors.EmailRegistered,
    errors.ClosedLink,
    errors.UnknownAccount,
)
"""A concurrent request linked the identity or the address to another account."""
REFUSALS: Final = {
    EmailUse.LINKING_OFF: errors.AccountLinkingOff,
    EmailUse.SHARED: errors.NotLinkable,
    EmailUse.REGISTRATION_OFF: errors.RegistrationOff,
    EmailUse.TERMS_NEEDED: errors.PolicyNotAccepted,
}
"""What programs are told of an address that leads to no account."""


def email_use(
    context: Context,
    identity: ProviderIdentity,
    *,
    trusts_email: bool,
    may_register: bool,
    has_form: bool = False,
    needs_confirmation: bool = False,
) -> EmailUse:
    """Return how the address selects an account.

    It is looked up only if the tenant trusts the provider's claim, so that other claims reveal no account.

    Args:
        has_form: whether the person can fill in a form, as on our pages.
        needs_confirmation: whether the owner of an account with this verified address signs in before it is linked.
    """
    if not (identity.email and identity.email_verified and trusts_email and accounts.is_email(identity.email)):
        return EmailUse.UNPROVEN
    account = accounts.by_email(context, identity.email)
    if account is None:
        if not may_register:
            return EmailUse.REGISTRATION_OFF
        if requires_terms(context):
            return EmailUse.TERMS_NEEDED
        return EmailUse.FIELDS_NEEDED if has_form and unfilled_fields(context, identity) else EmailUse.SIGN_IN
    if first_verification.is_shared(account):
        return EmailUse.SHARED
    if not context.tenant.settings.account_linking:
        return EmailUse.LINKING_OFF
    return EmailUse.CONFIRM if needs_confirmation and is_verified(account, identity.email) else EmailUse.SIGN_IN


def create_or_claim(context: Context, identity: ProviderIdentity) -> Account:
    """Return a new account with the address, or one that never verified it, which the owner of the mailbox claims.

    Raises:
        EmailRefused, EmailDomainRefused: the tenant registers no such address.
        EmailRegistered, ClosedLink, UnknownAccount, IdentifierTaken: another request verified it concurrently.
    """
    email = identity.email or ""
    holder = accounts.by_email(context, email)
    if holder is None:
        return redemption.register(context, email=email, identity=identity)
    locked = account_store.lock(context, holder.uid)
    if locked is None or is_verified(locked, email):
        raise errors.EmailRegistered
    return by_email(context, identity)


def by_email(context: Context, identity: ProviderIdentity, *, links_identity: bool = False) -> Account:
    """Return the account with the address that the provider verified; create it if there is none.

    Args:
        links_identity: link the identity to a new account at once.

    Raises:
        EmailRefused, EmailDomainRefused: the tenant registers no such address.
        EmailRegistered, ClosedLink, UnknownAccount, IdentifierTaken: another request took it concurrently.
    """
    email = identity.email or ""
    proof = OneTimeToken(
        Purpose.SIGN_IN,
        NO_ACCOUNT,
        identifiers.normalize(EMAIL, email),
        {"email": email, "registers": True},
        context.now,
    )
    return redemption.redeem(context, proof, errors.UnknownAccount, identity=identity, links_identity=links_identity)


def unfilled_fields(context: Context, identity: ProviderIdentity, *, may_need_password: bool = True) -> list[str]:
    """Return the names of the fields that the registration form requires and that a new account of the identity would not have.

    A password is one only where people who sign up by a provider choose it, too. A form that the tenant did not configure requires
    one identifier, which a valid address is.

    Args:
        may_need_password: not for an organization's provider, which signs its people in alone.
    """
    settings = context.tenant.settings
    has_email = accounts.is_email(identity.email or "")
    form = registration_form.fields_of(settings)
    has_password = may_need_password and settings.federated_password
    passwords = [field.name for field in form if field.type == "password" and has_password]
    if has_email and not registration_form.is_configured(settings):
        return passwords
    from app.identity.authentication.registration import provider_fields  # noqa: PLC0415 - with the first such form

    begins_with = provider_fields.at_registration(context, identity)
    return passwords + [
        field.name
        for field in form
        if field.required and field.type != "password"
        if not (has_email if field.name == _EMAIL else begins_with.has(field))
    ]


def requires_terms(context: Context) -> bool:
    """Return whether the registration form has terms that a person must accept."""
    return any(field.name == TERMS and field.required for field in registration_form.fields_of(context.tenant.settings))
