"""The organization that the tokens of a request are for, and the step that chooses it."""

from __future__ import annotations

from app.contract.accounts.models import PersonView
from app.contract.organizations.settings import MethodLimit
from app.contract.organizations.views import JoinableOrganization, OrganizationOption
from app.contract.steps import SelectOrganizationStep
from app.identity.authentication.sign_in import allowed_methods
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import last_used_organization, requested_organization
from app.identity.directory.organizations.invitations import account_invitations
from app.identity.directory.organizations.join_requests import join_requests
from app.identity.directory.organizations.join_requests.join_request import JoinOffer
from app.identity.directory.organizations.memberships import memberships
from app.identity.directory.organizations.organization import Membership
from app.identity.directory.organizations.requested_organization import (
    MembershipMissing,
    OrganizationChoice,
    OrganizationRequest,
)
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect
from app.kit.clock import iso


def resolve(
    context: Context, request: CheckedRequest, client: Application, account: Account | None
) -> Membership | OrganizationChoice | None:
    """Return what `requested_organization.resolve` does. Raises RefusedByRedirect."""
    requested = OrganizationRequest.of(client, request.to_store())
    try:
        return requested_organization.resolve(context, requested, account)
    except MembershipMissing as problem:
        raise RefusedByRedirect("access_denied", problem.description) from None


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


def required_method(
    context: Context, account: Account | None, organization: object, session: BrowserSession
) -> MethodLimit | None:
    """Return the methods that the chosen organization requires, if it requires its own connection and the session is not by it."""
    if account is None or not isinstance(organization, Membership):
        return None
    refusal = allowed_methods.refusal_in(context, account, organization.organization.org_id, session)
    return MethodLimit.model_validate(refusal.data) if refusal is not None else None


def record(context: Context, request: CheckedRequest, membership: Membership | None, uid: str) -> str | None:
    """Remember the organization for the next choice, and return its id."""
    if membership is None:
        return None
    org_id = membership.organization.org_id
    last_used_organization.record(context, uid, request.client_id, org_id)
    return org_id
