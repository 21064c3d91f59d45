"""One sign-in as a workflow judges it: who, how, and for what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.contract.second_factors.challenge import FactorKind
from app.contract.workflows.http_calls import WorkflowSignIn
from app.identity.authentication.sign_in import allowed_methods, risks
from app.identity.authentication.sign_in.authentication import MFA, Authentication
from app.identity.authentication.sign_in.workflows import redirect_addresses
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget
from app.identity.credentials import credential_store
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import AccountFactors
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import requested_organization, sign_in_methods
from app.identity.directory.organizations.organization import Membership
from app.identity.directory.organizations.requested_organization import MembershipMissing, OrganizationChoice
from app.identity.platform.context import Context
from app.kit.caching.cached_attribute import cached_attribute

_IDENTIFIER_KINDS: Final = ("email", "username", "phone")


@dataclass(frozen=True)
class SignInMoment:
    """An account that signs in: who, how, for what."""

    context: Context
    account: Account
    authentication: Authentication
    target: SignInTarget
    is_registration: bool = False
    is_refresh: bool = False
    began_at: datetime | None = None  # of a session; None: now
    is_earlier: bool = False  # it was in an earlier request, of which only the account and the methods are known
    passed_factors: tuple[FactorKind, ...] = ()  # of a session

    @cached_attribute
    def method(self) -> str | None:
        """The first factor; None for tokens that none began, such as those of a server."""
        try:
            return allowed_methods.method_of(self.authentication.methods)
        except ValueError:
            return None

    @property
    def is_two_factor(self) -> bool:
        return MFA in self.authentication.methods

    @cached_attribute
    def new_signals(self) -> frozenset[str]:
        """The risk signals that are new for the account."""
        return frozenset() if self.is_refresh else frozenset(risks.new_signals(self.context, self.account))

    @cached_attribute
    def credentials(self) -> tuple[Credential, ...]:
        return tuple(credential_store.by_account(self.context, self.account.uid))

    @property
    def organization_id(self) -> str | None:
        """The organization that the tokens will name; None for the personal account, and before it is chosen."""
        found = self._organization
        return found.organization.org_id if isinstance(found, Membership) else self.target.org_id

    @property
    def is_organization_open(self) -> bool:
        """Whether the person chooses the organization after the sign-in, or joins the requested one by it."""
        return isinstance(self._organization, OrganizationChoice | MembershipMissing)

    @cached_attribute
    def _organization(self) -> Membership | OrganizationChoice | MembershipMissing | None:
        requested = self.target.organization_request
        if requested is None:
            return None
        try:
            return requested_organization.resolve(self.context, requested, self.account)
        except MembershipMissing as problem:
            return problem

    @property
    def methods(self) -> list[str]:
        return [name for name in (self.method, MFA if self.is_two_factor else None) if name]

    @property
    def provider(self) -> str | None:
        """The connection of a sign-in by an identity provider."""
        if self.method != sign_in_methods.CONNECTION:
            return None
        kind = self.authentication.kind
        return (kind if kind not in _IDENTIFIER_KINDS else self.target.provider) or None

    @property
    def has_second_factor(self) -> bool:
        factors = AccountFactors(self.account, self.credentials)
        return bool(second_factors.enrolled_kinds(self.context.tenant.settings, factors))

    @property
    def _has_pages(self) -> bool:
        """Whether a page can send the person elsewhere: not for programs and tokens, nor for `prompt=none`."""
        return (
            self.context.visit is not None
            and not self.is_refresh
            and "none" not in self.target.request.get("prompt", ())
        )

    @property
    def called(self) -> WorkflowSignIn:
        """What a tenant’s server learns of it."""
        return WorkflowSignIn(
            methods=tuple(self.methods),
            provider=self.provider,
            ip_address=self.context.ip_address,
            user_agent=self.context.agent,
            client_id=self.target.client.client_id if self.target.client is not None else None,
            is_refresh=self.is_refresh,
            return_url=redirect_addresses.return_url(self.context) if self._has_pages else None,
        )
