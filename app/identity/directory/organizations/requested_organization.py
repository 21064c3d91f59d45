"""Decides which organization the tokens of an authorization request are for: the named one, the account's only one, or the chosen one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_names, owned_organizations
from app.identity.directory.organizations.invitations import account_invitations
from app.identity.directory.organizations.invitations.account_invitations import ReceivedInvitation
from app.identity.directory.organizations.join_requests import join_requests
from app.identity.directory.organizations.join_requests.join_request import JoinOffer
from app.identity.directory.organizations.memberships import memberships
from app.identity.directory.organizations.organization import Membership
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application

PROMPT: Final = "select_organization"
"""The value of `prompt` that requests the page with the choice (decision 0191)."""
PERSONAL: Final = ""
"""The chosen `org_id` of the personal account."""


class MembershipMissing(Exception):
    """The account is no member of the named organization, or of any where the client requires one."""

    def __init__(self, description: str) -> None:
        super().__init__(description)
        self.description = description


@dataclass(frozen=True)
class OrganizationRequest:
    """What an authorization request and its client say about the organization.

    `usage` is the client's `organization_usage`; `org_id` was chosen on the page by the account `org_uid`.
    """

    usage: str
    named: str | None
    prompts: bool
    org_id: str | None
    org_uid: str | None

    @classmethod
    def of(cls, client: Application, authorization: Mapping[str, Any]) -> OrganizationRequest:
        """Return it for the stored parameters of an authorization request."""
        usage, get = client.settings.organization_usage, authorization.get
        prompts = PROMPT in (get("prompt") or ())
        return cls(usage, get("organization"), prompts, get("org_id"), get("org_uid"))

    @property
    def is_for_person(self) -> bool:
        """Whether its tokens name no organization, of any account."""
        return self.named is None and (self.usage == "deny" or (self.usage == "allow" and not self.prompts))


class Offers:
    """The organizations that an account could join or create; each member is read on first use."""

    def __init__(self, context: Context, account: Account | None) -> None:
        self._context, self._account = context, account

    @property
    def can_create(self) -> bool:
        return owned_organizations.may_create(self._context)

    @cached_property
    def joinable(self) -> list[JoinOffer]:
        """The organizations that the account may request to join."""
        return join_requests.offers(self._context, self._account) if self._account is not None else []

    @cached_property
    def invitations(self) -> list[ReceivedInvitation]:
        """The invitations that the account can answer."""
        return account_invitations.pending(self._context, self._account) if self._account is not None else []


@dataclass(frozen=True)
class OrganizationChoice:
    """The options of the choice."""

    memberships: tuple[Membership, ...]
    allows_personal: bool
    offers: Offers


def resolve(
    context: Context, request: OrganizationRequest, account: Account | None
) -> Membership | OrganizationChoice | None:
    """Return the membership that the tokens are for, None for the personal account, or the choice that must be made.

    Memberships are read at each call, and only where the request or the client uses organizations.

    Raises:
        MembershipMissing: the account is no member of the requested organization, or of any where the client requires one.
            An organization that is unknown or inactive gets the same error, so that it tells nothing about them. An account
            that may create one, or has an invitation, gets the page instead.
    """
    if request.is_for_person:
        return None
    if request.named is not None:
        return _named(context, request.named, account if request.usage != "deny" else None)
    own_memberships = tuple(memberships.of(context, account)) if account is not None else ()
    offers = Offers(context, account)
    shows_offers = request.prompts and (offers.can_create or bool(offers.joinable))
    if request.usage == "require":
        if not own_memberships and not (offers.can_create or offers.joinable or offers.invitations):
            raise MembershipMissing("The user is not a member of an organization.")
        if len(own_memberships) == 1 and not shows_offers:
            return own_memberships[0]
        return _chosen(request, account, OrganizationChoice(own_memberships, allows_personal=False, offers=offers))
    if not own_memberships and not shows_offers:
        return None
    return _chosen(request, account, OrganizationChoice(own_memberships, allows_personal=True, offers=offers))


def _named(context: Context, text: str, account: Account | None) -> Membership:
    find = (
        memberships.in_organization
        if organization_names.is_id(organization_names.ORGANIZATION, text)
        else memberships.in_named
    )
    match = find(context, account, text) if account is not None else None
    if match is None:
        raise MembershipMissing("The user is not a member of this organization.")
    return match


def _chosen(
    request: OrganizationRequest, account: Account | None, choice: OrganizationChoice
) -> Membership | OrganizationChoice | None:
    """Return the account's choice on the page, if it is still allowed."""
    if account is None or request.org_id is None or request.org_uid != account.uid:
        return choice
    if request.org_id == PERSONAL:
        return None if choice.allows_personal else choice
    return next(
        (membership for membership in choice.memberships if membership.organization.org_id == request.org_id), choice
    )
