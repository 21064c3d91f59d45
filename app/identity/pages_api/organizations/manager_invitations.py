"""Invitations by members who manage an organization: with no more rights than they have themselves (decision 0197)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from app.contract import errors
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_names
from app.identity.directory.organizations.invitations import (
    invitation_link_store,
    invitation_links,
    invitation_rules,
    invitation_store,
    invitations,
)
from app.identity.directory.organizations.invitations.invitation import (
    AnyInvitation,
    InvitationLinkRecord,
    InvitationRecord,
)
from app.identity.directory.organizations.invitations.invitation_links import InvitationLinkRequest
from app.identity.directory.organizations.invitations.invitation_rules import InvitationRequest
from app.identity.directory.organizations.memberships import managed_organization
from app.identity.directory.organizations.memberships.managed_organization import ManagedOrganization
from app.identity.directory.organizations.roles import organization_roles
from app.identity.platform.context import Context
from app.identity.use_cases.organizations import send_invitation
from app.identity.use_cases.organizations.send_invitation import Result
from app.kit.limits.rate_limits import Rate

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
    _spend_limits(context, actor, org_id, len(emails))
    requested = [InvitationRequest(email, [role_id], actor.uid, is_managed=True) for email in emails]
    return send_invitation.invite_many(context, org_id, requested)


def resend(context: Context, actor: Account, org_id: str, invitation_id: str) -> InvitationRecord:
    """Email a new link, in the name of the actor.

    Raises UnknownOrganization, UnknownOrganizationInvitation, OwnersOnly, ClosedInvitation, TooManyRequests, MailLimitReached.
    """
    scope, invitation = _invitation(context, actor, org_id, invitation_id)
    if not send_invitation.seconds_until_resend(context, invitation):
        _spend_limits(context, actor, org_id)
    return send_invitation.resend(context, invitation, scope.organization, by=actor.uid)


def revoke(context: Context, actor: Account, org_id: str, invitation_id: str) -> InvitationRecord:
    """End an open invitation. Raises UnknownOrganization, UnknownOrganizationInvitation, OwnersOnly, ClosedInvitation."""
    return invitations.revoke(context, _invitation(context, actor, org_id, invitation_id)[1], by=actor.uid)


def create_link(
    context: Context,
    actor: Account,
    org_id: str,
    role_id: str,
    *,
    days: int,
    max_uses: int | None,
    domains: Sequence[str],
) -> tuple[InvitationLinkRecord, str]:
    """Create a link for several people; return it and its address.

    Raises UnknownOrganization, OwnersOnly also for a role of owners, MalformedRoleId, RoleOfOtherOrganization, BadParameter for a
    malformed domain, TooManyInvitationLinks.
    """
    scope = managed_organization.load(context, actor, org_id, for_change=True)
    _require_role(context, scope, role_id, is_shared=True)
    requested = InvitationLinkRequest(
        org_id, [role_id], actor.uid, domains, max_uses, lifetime=timedelta(days=days), is_managed=True
    )
    link, token = send_invitation.create_link(context, requested)
    return link, send_invitation.link(context, link, token)


def revoke_link(context: Context, actor: Account, org_id: str, link_id: str) -> InvitationLinkRecord:
    """Turn a link off. Raises UnknownOrganization, UnknownOrganizationInvitation, OwnersOnly, ClosedInvitation."""
    scope = managed_organization.load(context, actor, org_id)
    link = (
        invitation_link_store.by_id(context, link_id)
        if organization_names.is_id(organization_names.INVITATION, link_id)
        else None
    )
    if link is None or link.org_id != org_id:
        raise errors.UnknownOrganizationInvitation
    if not can_change(context, scope, link):
        raise errors.OwnersOnly
    return invitation_links.revoke(context, link, by=actor.uid)


def _spend_limits(context: Context, actor: Account, org_id: str, count: int = 1) -> None:
    context.spend("organization_invitations", _RATE, org_id, count=count)
    context.spend("invitations_of_person", _OF_PERSON, actor.uid, count=count)


def can_change(context: Context, scope: ManagedOrganization, invitation: AnyInvitation) -> bool:
    """Return whether the member may resend or revoke it: what gives no more than the member could give."""
    role_ids = invitation_rules.remaining_roles(context, scope.organization, invitation.role_ids)
    return managed_organization.can_give_roles(context, scope, role_ids)


def _invitation(
    context: Context, actor: Account, org_id: str, invitation_id: str
) -> tuple[ManagedOrganization, InvitationRecord]:
    scope = managed_organization.load(context, actor, org_id)
    is_id = organization_names.is_id(organization_names.INVITATION, invitation_id)
    invitation = invitation_store.by_id(context, invitation_id) if is_id else None
    if invitation is None or invitation.org_id != org_id:
        raise errors.UnknownOrganizationInvitation
    if not can_change(context, scope, invitation):
        raise errors.OwnersOnly
    return scope, invitation


def _require_role(context: Context, scope: ManagedOrganization, role_id: str, *, is_shared: bool = False) -> None:
    """Raise OwnersOnly for a role that the member cannot give, or cannot give to everyone who has a link."""
    organization_roles.for_members(context, scope.organization.org_id, [role_id])
    can_give = managed_organization.can_share_role if is_shared else managed_organization.can_give_role
    if not can_give(context, scope, role_id):
        raise errors.OwnersOnly
