"""Finds or creates the account of a person whom an organization's connection signs in, with membership and roles (decision 0428)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from app.contract.step_reasons import LoginReason
from app.identity.authentication.federation.offered_connections import OfferedConnection
from app.identity.authentication.passwordless import federated_account, redemption
from app.identity.authentication.registration import account_registration, provider_fields
from app.identity.authentication.registration.account_registration import RegistrationOptions
from app.identity.authentication.registration.drafts import AccountDraft
from app.identity.directory.accounts import account_store, accounts, linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.unverified import first_verification
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.directory.organizations import organization_store, sign_in_methods
from app.identity.directory.organizations.connections import organization_connection_store, sign_in_connections
from app.identity.directory.organizations.membership_changes import upstream_roles
from app.identity.platform.context import Context


@dataclass(frozen=True)
class CompletedForm:
    """The registration form that the person of a new account filled in, checked."""

    draft: AccountDraft
    options: RegistrationOptions


@dataclass(frozen=True)
class ConnectionAdmission:
    """What an identity of an organization's connection leads to: a refusal, the account that has it, or one by its address."""

    connection: OfferedConnection
    identity: ProviderIdentity
    groups: Collection[str] | None
    refusal: LoginReason | None = None
    holder: Account | None = None

    def to_resume(self, context: Context) -> ProviderIdentity:
        """Return the identity as it waits for the form: with those of its groups, which may be many, that have a role."""
        if self.groups is None:
            return self.identity
        name = self.connection.name
        known = {item.group_id for item in organization_connection_store.group_roles(context, [name])[name]}
        return replace(self.identity, groups=tuple(group for group in self.groups if group in known))

    def needs_form(self, context: Context) -> bool:
        """Return whether a new account lacks accepted terms, or required fields that the provider does not fill."""
        if self.holder is not None or accounts.by_email(context, self.identity.email or "") is not None:
            return False
        return federated_account.requires_terms(context) or bool(
            federated_account.unfilled_fields(context, self.identity, may_need_password=False)
        )

    def find_or_create(
        self, context: Context, identity: ProviderIdentity, form: CompletedForm | None = None
    ) -> Account | None:
        """Return the account with the address of an identity, or a new one with both, as a member with its roles.

        Registration need not be open. None where no seat is left.

        Args:
            form: what the person added, if the tenant's registration form required more.

        Raises:
            EmailRefused, EmailDomainRefused: the tenant registers no such address.
            EmailRegistered, ClosedLink, UnknownAccount, IdentifierTaken: another request took it concurrently.
            UsernameTaken, PhoneTaken: another account has the identifier that the person added.
        """
        if accounts.by_email(context, identity.email or "") is not None:
            account = federated_account.by_email(context, identity)
        else:
            account = _create(context, identity, form)
        return account_store.by_uid(context, account.uid) if self.join(context, account) else None

    def record_refusal(self, context: Context, reason: LoginReason) -> None:
        """Record in the audit why the identity is refused."""
        facts = {"org_id": self.connection.org_id, "connection_id": self.connection.name, "reason": reason.value}
        context.audit.record("organization.connection_refused", **facts)

    def join(self, context: Context, account: Account) -> bool:
        """Bring membership and roles of an account up to date, and return whether it may sign in by the connection.

        One whose organizations do not accept the connection stays as it is, because the end of the sign-in refuses it: this
        organization could otherwise make it a member first, and accept its own connection then.
        """
        allowed = sign_in_methods.of_account(context, account)
        if allowed is not None and not allowed.accepts(sign_in_methods.CONNECTION, self.connection.name):
            return True
        organization = self.connection.organization
        return organization is not None and upstream_roles.apply(
            context, account, organization, self.connection.name, self.groups
        )


def own_profile(context: Context, identity: ProviderIdentity) -> dict[str, str]:
    """Return the texts with which the account of an identity begins: its names, and the fields that the connection maps."""
    decided, names = identity.decided_profile, linked_identities.profile_names(identity)
    refused = provider_fields.check(context, decided).refused
    return {**names, **{name: text for name, text in decided.items() if name not in refused}}


def _create(context: Context, identity: ProviderIdentity, form: CompletedForm | None) -> Account:
    """Create the account of an identity, with what the connection maps, and what the person added."""
    if form is not None:
        private = account_registration.private_members(context, form.options)
        account = redemption.add(
            context, form.draft, identity.provider, identity=identity, links_identity=True, private=private
        )
        account_registration.send_verifications(context, account, form.options)
        return account
    profile = provider_fields.at_registration(context, identity).assigned
    draft = redemption.new_draft(context, identity.provider, profile, email=identity.email or "")
    return redemption.add(context, draft, identity.provider, identity=identity, links_identity=True)


def admit(context: Context, connection: OfferedConnection, identity: ProviderIdentity) -> ConnectionAdmission:
    """Return what an identity leads to. The membership and the roles of the account that has it are up to date then.

    An organization is locked before an account's row, as wherever roles are given, so that two first sign-ins of one person come
    one after the other.
    """
    admission = ConnectionAdmission(connection, replace(identity, groups=None), identity.groups)
    holder, refusal = _holder_or_refusal(context, connection.org_id, admission.identity)
    if holder is not None and not (
        _is_of_organization(context, connection.org_id, holder) and admission.join(context, holder)
    ):
        refusal = LoginReason.NOT_MEMBER
    if refusal is not None:
        admission.record_refusal(context, refusal)
    return replace(admission, refusal=refusal, holder=holder)


def _is_of_organization(context: Context, org_id: str, holder: Account) -> bool:
    """Return whether the account that has an identity is a member, or has an address of the organization's domains.

    An account that left and took another address is no longer one that this provider may open, whatever address it asserts.
    """
    is_member = upstream_roles.is_member(context, holder.uid, org_id)
    return is_member or sign_in_connections.owns_account(context, org_id, holder)


def _holder_or_refusal(
    context: Context, org_id: str, identity: ProviderIdentity
) -> tuple[Account | None, LoginReason | None]:
    """Return the account that has an identity, or why it opens none; neither where it may create or link one, and the organization
    is locked then.
    """
    email = identity.email if identity.email_verified else None
    if not email or not sign_in_connections.owns_email(context, org_id, email):
        return None, LoginReason.FOREIGN_EMAIL
    if (holder := linked_identities.find_account(context, identity.provider, identity.subject)) is not None:
        return holder, None
    organization = organization_store.locked(context, org_id, is_alone=True)
    if organization is None or not organization.is_active:
        return None, LoginReason.NOT_MEMBER
    if (holder := linked_identities.find_account(context, identity.provider, identity.subject)) is not None:
        return holder, None  # since a sign-in for which the lock waited
    account = accounts.by_email(context, email)
    is_known = account is not None and upstream_roles.is_member(context, account.uid, org_id)
    if not is_known and not upstream_roles.admits(organization):
        return None, LoginReason.NOT_MEMBER
    if account is not None and not context.tenant.settings.account_linking:
        return None, LoginReason.UNKNOWN_IDENTITY
    is_shared = account is not None and first_verification.is_shared(account)
    return None, LoginReason.CONNECTS if is_shared else None
