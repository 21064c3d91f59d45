"""Decides which organization the tokens of a request are for: that of the request, the account's only one, or the chosen one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from app.contract.accounts.models import PersonView
from app.contract.organizations.views import JoinableOrganization, OrganizationOption
from app.contract.steps import SelectOrganizationStep
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import last_used_organization, organization_names, owned_organizations
from app.identity.directory.organizations.invitations import account_invitations
from app.identity.directory.organizations.invitations.account_invitations import ReceivedInvitation
from app.identity.directory.organizations.join_requests import join_requests
from app.identity.directory.organizations.join_requests.join_request import JoinOffer
from app.identity.directory.organizations.memberships import memberships
from app.identity.directory.organizations.organization import Membership
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.authorize.openid_parameters import prompt
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect
from app.kit.clock import iso

PERSONAL: Final = ""
"""The chosen `org_id` of the personal account."""


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
    context: Context, request: CheckedRequest, client: Application, account: Account | None
) -> Membership | OrganizationChoice | None:
    """Return the membership that the tokens are for, None for the personal account, or the choice that must be made.

    Memberships are read at each call, and only where the request or the client uses organizations.

    Raises:
        RefusedByRedirect: the account is no member of the requested organization, or of any where the client requires one.
            An organization that is unknown or inactive gets the same error, so that it tells nothing about them. An account
            that may create one, or has an invitation, gets the page instead.
    """
    usage = client.settings.organization_usage
    if request.organization is not None:
        return _named(context, request.organization, account if usage != "deny" else None)
    requests_choice = prompt.SELECT_ORGANIZATION in request.prompt or usage == "prompt"
    if usage == "deny" or (usage != "require" and not requests_choice):
        return None
    own_memberships = tuple(memberships.of(context, account)) if account is not None else ()
    offers = Offers(context, account)
    shows_offers = prompt.SELECT_ORGANIZATION in request.prompt and (offers.can_create or bool(offers.joinable))
    if usage == "require":
        if not own_memberships and not (offers.can_create or offers.joinable or offers.invitations):
            raise RefusedByRedirect("access_denied", "The user is not a member of an organization.")
        if len(own_memberships) == 1 and not shows_offers:
            return own_memberships[0]
        return _chosen(request, account, OrganizationChoice(own_memberships, allows_personal=False, offers=offers))
    if not own_memberships and not shows_offers:
        return None
    return _chosen(request, account, OrganizationChoice(own_memberships, allows_personal=True, offers=offers))


def step(
    context: Context, choice: OrganizationChoice, uid: str, client_id: str, person: PersonView | None
) -> SelectOrganizationStep:
    """Return the step that makes the choice."""
    return SelectOrganizationStep(
        person=person,
        organizations=_options(context, choice, uid, client_id),
        allows_personal=choice.allows_personal,
        joinable=[joinable(item) for item in choice.offers.joinable],
        can_create=choice.offers.can_create,
        invitations=account_invitations.hint(choice.offers.invitations),
    )


def _options(context: Context, choice: OrganizationChoice, uid: str, client_id: str) -> list[OrganizationOption]:
    """Return the organizations as the page shows them, the last used first."""
    ids = [membership.organization.org_id for membership in choice.memberships]
    people, last = memberships.count_people(context, ids), last_used_organization.read(context, uid, client_id)
    shown = [
        OrganizationOption(
            id=membership.organization.org_id,
            name=membership.organization.display_name,
            logo=membership.organization.logo_url,
            roles=list(dict.fromkeys(role.name for role in membership.roles)),
            people=people.get(membership.organization.org_id, 1),
            is_last_used=membership.organization.org_id == last,
        )
        for membership in choice.memberships
    ]
    return sorted(shown, key=lambda item: not item.is_last_used)


def joinable_organizations(context: Context, account: Account) -> list[JoinableOrganization]:
    """Return the organizations that the account may ask to join, as pages show them."""
    return [joinable(offer) for offer in join_requests.offers(context, account)]


def joinable(offer: JoinOffer) -> JoinableOrganization:
    """Return an organization to join, as pages show it."""
    stored = offer.organization
    return JoinableOrganization(
        id=stored.org_id,
        name=stored.display_name,
        logo=stored.logo_url,
        is_requested=offer.is_requested,
        until=iso(offer.until),
    )


def record(context: Context, request: CheckedRequest, membership: Membership | None, uid: str) -> str | None:
    """Remember the organization for the next choice, and return its id."""
    if membership is None:
        return None
    org_id = membership.organization.org_id
    last_used_organization.record(context, uid, request.client_id, org_id)
    return org_id


def _named(context: Context, text: str, account: Account | None) -> Membership:
    find = (
        memberships.in_organization
        if organization_names.is_id(organization_names.ORGANIZATION, text)
        else memberships.in_named
    )
    match = find(context, account, text) if account is not None else None
    if match is None:
        raise RefusedByRedirect("access_denied", "The user is not a member of this organization.")
    return match


def _chosen(
    request: CheckedRequest, account: Account | None, choice: OrganizationChoice
) -> Membership | OrganizationChoice | None:
    """Return the account's choice on the page, if it is still allowed."""
    if account is None or request.org_id is None or request.org_uid != account.uid:
        return choice
    if request.org_id == PERSONAL:
        return None if choice.allows_personal else choice
    return next(
        (membership for membership in choice.memberships if membership.organization.org_id == request.org_id), choice
    )
