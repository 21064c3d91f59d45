"""Joins an organization at the end of a sign-in or registration that an invitation began."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.hub import Next, Step
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.directory.accounts import service as accounts
from app.identity.directory.organizations import invitation_store, invitations, memberships
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations.invitation import Invitation
from app.identity.directory.organizations.organization import Organization
from app.identity.platform.context import Context

KEY = "invitation"
"""The member of an interaction's request with the id of the invitation."""
_REFUSED = (e.ClosedInvitation, e.OrganizationInactive, e.UnknownOrganization, e.WrongInvitationEmail, e.NoSeatLeft)


def invitation_of(context: Context, interaction: Interaction | None) -> tuple[Invitation, Organization] | None:
    """Return the invitation that began an interaction, in any state; None if there is none."""
    held = interaction.request.get(KEY) if interaction is not None else None
    invitation = invitation_store.by_id(context, str(held)) if held else None
    organization = organizations.by_id(context, invitation.org_id) if invitation is not None else None
    is_on = context.tenant.settings.organizations.enabled
    return (invitation, organization) if invitation is not None and organization is not None and is_on else None


def invited_email(context: Context, interaction: Interaction | None) -> str:
    """Return the address that a registration in this interaction must have, and need not verify; empty without an open invitation."""
    found = invitation_of(context, interaction)
    return found[0].email if found and found[0].is_open and found[1].is_active else ""


def join(context: Context, interaction: Interaction, session: BrowserSession) -> Next | None:
    """Join the organization of the interaction; return the page of the invitation if that is refused.

    Returns None without an invitation, and for an account that is a member already.
    """
    if not interaction.request.get(KEY):
        return None
    page = Next(step=Step.INVITATION, attempt=interaction.interaction_id)
    found, account = invitation_of(context, interaction), accounts.by_uid(context, session.uid)
    if found is None or account is None:
        return page
    if memberships.in_organization(context, account, found[1].org_id) is not None and not found[0].is_open:
        return None
    try:
        invitations.accept(context, found[0], account)
    except _REFUSED:
        return page
    return None
