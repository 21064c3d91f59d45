"""Invitations by members who manage an organization: with no more rights than they have themselves (decision 0197)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, TypeVar

from app.contract import errors
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_names
from app.identity.directory.organizations.invitations import (
    email_invitations,
    granted_roles,
    invitation_store,
    shared_invitation_store,
    shared_invitations,
)
from app.identity.directory.organizations.invitations.email_invitations import InvitationRequest
from app.identity.directory.organizations.invitations.invitation import (
    EmailInvitation,
    SharedInvitation,
)
from app.identity.directory.organizations.invitations.shared_invitations import SharedInvitationRequest
from app.identity.directory.organizations.memberships import managed_organization
from app.identity.directory.organizations.memberships.managed_organization import ManagedOrganization
from app.identity.directory.organizations.roles import organization_roles
from app.identity.platform.context import Context
from app.identity.use_cases.organizations import send_invitation
from app.identity.use_cases.organizations.send_invitation import Result
from app.kit.limits.rate_limits import Rate

Kind = TypeVar("Kind", EmailInvitation, SharedInvitation)
_RATE: Final = Rate(200, 3600)
"""Emails of invitations of one organization from the account pages, so that it does not send mass mail."""
_OF_PERSON: Final = Rate(400, 3600)
"""The same by one person: organizations that people create and delete would each have a limit of their own."""


def invite(context: Context, actor: Account, org_id: str, emails: Sequence[str], role_id: str) -> list[Result]:
    """Invite people with one role; return one result for each address.

    Raises UnknownOrganization, OwnersOnly for a role that the actor cannot give, MalformedRoleId, RoleOfOtherOrganization,
    TooManyRequests.
    """
    _require_role(context, managed_organization.load(context, actor, org_id, for_change=True), role_id)
    _count_invitations(context, actor, org_id, len(emails))
    requested = [InvitationRequest(email, [role_id], actor.uid, is_managed=True) for email in emails]
    return send_invitation.invite_many(context, org_id, requested)


def resend(context: Context, actor: Account, org_id: str, invitation_id: str) -> EmailInvitation:
    """Email a new link, in the name of the actor.

    Raises UnknownOrganization, UnknownOrganizationInvitation, OwnersOnly, ClosedInvitation, TooManyRequests, MailLimitReached.
    """
    scope, invitation = _invitation(context, actor, org_id, invitation_id)
    if not send_invitation.seconds_until_resend(context, invitation):
        _count_invitations(context, actor, org_id)
    return send_invitation.resend(context, invitation, scope.organization, by=actor.uid)


def revoke(context: Context, actor: Account, org_id: str, invitation_id: str) -> EmailInvitation:
    """End an open invitation. Raises UnknownOrganization, UnknownOrganizationInvitation, OwnersOnly, ClosedInvitation."""
    return email_invitations.revoke(context, _invitation(context, actor, org_id, invitation_id)[1], by=actor.uid)


def create_shared(
    context: Context,
    actor: Account,
    org_id: str,
    role_id: str,
    *,
    days: int,
    max_uses: int | None,
    domains: Sequence[str],
) -> tuple[SharedInvitation, str]:
    """Create a shared invitation; return it and its address.

    Raises UnknownOrganization, OwnersOnly also for a role of owners, MalformedRoleId, RoleOfOtherOrganization, BadParameter for a
    malformed domain, TooManyInvitationLinks.
    """
    scope = managed_organization.load(context, actor, org_id, for_change=True)
    _require_role(context, scope, role_id, is_shared=True)
    requested = SharedInvitationRequest(
        org_id, [role_id], actor.uid, domains, max_uses, lifetime=timedelta(days=days), is_managed=True
    )
    invitation, token = send_invitation.create_shared(context, requested)
    return invitation, send_invitation.address_of(context, invitation, token)


def revoke_shared(context: Context, actor: Account, org_id: str, invitation_id: str) -> SharedInvitation:
    """End a shared invitation. Raises UnknownOrganization, UnknownOrganizationInvitation, OwnersOnly, ClosedInvitation."""
    scope = managed_organization.load(context, actor, org_id)
    is_id = organization_names.is_id(organization_names.INVITATION, invitation_id)
    invitation = _require_changeable(
        context, scope, shared_invitation_store.by_id(context, invitation_id) if is_id else None
    )
    return shared_invitations.revoke(context, invitation, by=actor.uid)


def _invitation(
    context: Context, actor: Account, org_id: str, invitation_id: str
) -> tuple[ManagedOrganization, EmailInvitation]:
    scope = managed_organization.load(context, actor, org_id)
    is_id = organization_names.is_id(organization_names.INVITATION, invitation_id)
    found = invitation_store.by_id(context, invitation_id) if is_id else None
    return scope, _require_changeable(context, scope, found)


def _require_changeable(context: Context, scope: ManagedOrganization, invitation: Kind | None) -> Kind:
    """Return an invitation of the organization that gives no more than the member could give.

    Raises UnknownOrganizationInvitation, OwnersOnly.
    """
    if invitation is None or invitation.org_id != scope.organization.org_id:
        raise errors.UnknownOrganizationInvitation
    role_ids = granted_roles.remaining_roles(context, scope.organization, invitation.role_ids)
    if not managed_organization.can_give_roles(context, scope, role_ids):
        raise errors.OwnersOnly
    return invitation


def _require_role(context: Context, scope: ManagedOrganization, role_id: str, *, is_shared: bool = False) -> None:
    """Raise OwnersOnly for a role that the member cannot give, or cannot give to everyone who has an address."""
    organization_roles.for_members(context, scope.organization.org_id, [role_id])
    can_give = managed_organization.can_share_role if is_shared else managed_organization.can_give_role
    if not can_give(context, scope, role_id):
        raise errors.OwnersOnly


def _count_invitations(context: Context, actor: Account, org_id: str, count: int = 1) -> None:
    context.count_against("organization_invitations", _RATE, org_id, count=count)
    context.count_against("invitations_of_person", _OF_PERSON, actor.uid, count=count)
