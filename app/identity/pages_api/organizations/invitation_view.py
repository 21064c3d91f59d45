"""Builds the view of an invitation for its page: state, organization, inviter, roles."""

from __future__ import annotations

from typing import Any

from app.contract.organizations.pages.invitation_pages import InvitationRole, InvitationState, InvitationView
from app.identity.directory.accounts.account import Account, full_name, is_verified
from app.identity.directory.organizations.invitations import (
    invitation_link_store,
    invitation_links,
    invitation_rules,
    invitations,
)
from app.identity.directory.organizations.invitations.invitation import (
    ACCEPTED,
    EXPIRED,
    USED_UP,
    AnyInvitation,
    InvitationRecord,
)
from app.identity.directory.organizations.memberships import memberships
from app.identity.directory.organizations.memberships.just_in_time_membership import verified_domains
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.messaging.message import safe_name
from app.identity.pages_api.interactions.accept_invitation import Found
from app.identity.platform.context import Context
from app.identity.protocols.oauth import oauth_views
from app.kit.clock import iso

_DETAILED = (InvitationState.OPEN, InvitationState.READY, InvitationState.OTHER, InvitationState.UNVERIFIED)


def view(context: Context, found: Found | None, account: Account | None) -> InvitationView:
    """Return the view for the signed-in account, or for a visitor who is not signed in."""
    if found is None:
        return InvitationView(state=InvitationState.UNKNOWN)
    invitation, organization = found
    state = state_for(context, invitation, organization, account)
    label, uid = (oauth_views.person(account).label, account.uid) if account is not None else ("", "")
    shown = InvitationView(state=state, is_link=invitation.is_link)
    if state is InvitationState.DOMAIN:
        return shown.model_copy(update={"domains": list(invitation.domains), "person": label, "person_uid": uid})
    if state is not InvitationState.MEMBER and state not in _DETAILED:
        return shown
    known: dict[str, Any] = {
        "organization": organization.display_name,
        "organization_id": organization.org_id,
        "logo": organization.logo_url,
        "color": organization.color,
        "person": label,
        "person_uid": uid,
    }
    more = _details(context, invitation, organization, account) if state in _DETAILED else {}
    return shown.model_copy(update={**known, **more})


def state_for(
    context: Context,
    invitation: AnyInvitation,
    organization: OrganizationRecord,
    account: Account | None,
) -> InvitationState:
    """Return the state of an invitation for the signed-in account, or for a visitor without one."""
    if not organization.is_active:
        return InvitationState.INACTIVE
    if account is not None and memberships.in_organization(context, account, organization.org_id) is not None:
        return InvitationState.MEMBER
    if not invitation.is_open:
        return _ended(invitation)
    if not invitation_rules.inviter_can_grant(context, organization, invitation):
        return InvitationState.REVOKED
    if memberships.is_full(context, organization):
        return InvitationState.FULL
    if account is None:
        return InvitationState.OPEN
    if isinstance(invitation, InvitationRecord):
        return InvitationState.READY if is_verified(account, invitation.email_key) else InvitationState.OTHER
    return _of_link(context, invitation, account)


def role_views(context: Context, invitation: AnyInvitation, organization: OrganizationRecord) -> list[InvitationRole]:
    """Return the roles that an invitation gives."""
    role_ids = invitation.role_ids or memberships.default_role_ids(context, organization)
    roles = [role for role in organization_role_store.by_ids(context, role_ids) if role.fits(organization.org_id)]
    return [InvitationRole(name=role.name, description=role.description) for role in roles]


def inviter_name(context: Context, invitation: AnyInvitation) -> str:
    """Return the name of the member who invites; empty if there is none."""
    inviter = invitation_rules.inviter(context, invitation.inviter_uid)
    return safe_name(full_name(inviter)) if inviter is not None else ""


def _of_link(context: Context, link: AnyInvitation, account: Account) -> InvitationState:
    if not invitation_link_store.may_use(context, link, account.uid):
        return InvitationState.REVOKED
    if invitation_links.admits(link, account):
        return InvitationState.READY
    return InvitationState.DOMAIN if verified_domains(account) else InvitationState.UNVERIFIED


def _details(
    context: Context,
    invitation: AnyInvitation,
    organization: OrganizationRecord,
    account: Account | None,
) -> dict[str, Any]:
    details: dict[str, Any] = {
        "inviter": inviter_name(context, invitation),
        "roles": role_views(context, invitation, organization),
        "expires_at": iso(invitation.ends_at) or "",
    }
    if isinstance(invitation, InvitationRecord):
        is_existing = invitations.holder(context, invitation) is not None
        return {**details, "email": invitation.email, "is_existing": is_existing}
    return {**details, "domains": list(invitation.domains), "email": (account.email or "") if account else ""}


def _ended(invitation: AnyInvitation) -> InvitationState:
    if invitation.status == EXPIRED:
        return InvitationState.EXPIRED
    if invitation.status == USED_UP:
        return InvitationState.USED_UP
    if invitation.status == ACCEPTED:
        return InvitationState.ACCEPTED
    return InvitationState.DECLINED if invitation.is_declined else InvitationState.REVOKED
