"""Builds the view of an invitation for its page: state, organization, inviter, roles."""

from __future__ import annotations

from typing import Any

from app.contract.organizations.pages.invitation_pages import InvitationRole, InvitationState, InvitationView
from app.identity.directory.accounts.account import Account, full_name
from app.identity.directory.organizations.invitations import invitation_rules, invitations
from app.identity.directory.organizations.invitations.invitation import AnyInvitation, InvitationRecord
from app.identity.directory.organizations.invitations.join_by_invitation import JoinState, join_state
from app.identity.directory.organizations.memberships import memberships
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
    state = _state(join_state(context, invitation, organization, account), account)
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


def _state(joining: JoinState, account: Account | None) -> InvitationState:
    if joining.is_member and joining.refusal is not InvitationState.INACTIVE:
        return InvitationState.MEMBER
    return joining.refusal or (InvitationState.READY if account is not None else InvitationState.OPEN)


def role_views(context: Context, invitation: AnyInvitation, organization: OrganizationRecord) -> list[InvitationRole]:
    """Return the roles that an invitation gives."""
    role_ids = invitation.role_ids or memberships.default_role_ids(context, organization)
    roles = [role for role in organization_role_store.by_ids(context, role_ids) if role.fits(organization.org_id)]
    return [InvitationRole(name=role.name, description=role.description) for role in roles]


def inviter_name(context: Context, invitation: AnyInvitation) -> str:
    """Return the name of the member who invites; empty if there is none."""
    inviter = invitation_rules.inviter(context, invitation.inviter_uid)
    return safe_name(full_name(inviter)) if inviter is not None else ""


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
