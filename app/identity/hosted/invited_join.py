"""Joins an organization at the end of a sign-in or registration that an invitation began."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.hub import Next, Step
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.directory.accounts import service as accounts
from app.identity.directory.organizations import (
    invitation_links,
    invitation_store,
    invitations,
    link_store,
    memberships,
)
from app.identity.directory.organizations import service as organizations
from app.identity.directory.organizations.invitation import Invitation
from app.identity.directory.organizations.invitation_link import InvitationLink
from app.identity.directory.organizations.organization import Organization
from app.identity.platform.context import Context

KEY = "invitation"
"""The member of an interaction's request with the id of the invitation."""
Found = tuple[Invitation | InvitationLink, Organization]
"""An invitation by email or by link, in any state, and its organization."""
_REFUSED = (e.ClosedInvitation, e.OrganizationInactive, e.UnknownOrganization, e.WrongInvitationEmail, e.NoSeatLeft)


def by_token(context: Context, token: str) -> Found | None:
    """Return the invitation of a link; None if there is none, or the organization is gone."""
    return _with_organization(context, invitation_store.by_token(context, token) or link_store.by_token(context, token))


def invitation_of(context: Context, interaction: Interaction | None) -> Found | None:
    """Return the invitation that began an interaction; None if there is none."""
    held = str(interaction.request.get(KEY) or "") if interaction is not None else ""
    if not held:
        return None
    return _with_organization(context, invitation_store.by_id(context, held) or link_store.by_id(context, held))


def is_of(interaction: Interaction | None) -> bool:
    """Return whether an invitation began the interaction."""
    return interaction is not None and bool(interaction.request.get(KEY))


def invited_email(context: Context, interaction: Interaction | None) -> str:
    """Return the address that a registration in this interaction must have, and need not verify.

    Empty without an open invitation by email: a link for several people fixes no address.
    """
    found = invitation_of(context, interaction)
    if found is None or isinstance(found[0], InvitationLink):
        return ""
    return found[0].email if found[0].is_open and found[1].is_active else ""


def join(context: Context, interaction: Interaction, session: BrowserSession) -> Next | None:
    """Join the organization of the interaction; return the page of the invitation if that is refused.

    Returns None without an invitation, and for an account that is a member already.
    """
    if not is_of(interaction):
        return None
    page = Next(step=Step.INVITATION, attempt=interaction.interaction_id)
    found, account = invitation_of(context, interaction), accounts.by_uid(context, session.uid)
    if found is None or account is None:
        return page
    invitation, organization = found
    is_member = memberships.in_organization(context, account, organization.org_id) is not None
    if is_member and not invitation.is_open:
        return None
    try:
        if isinstance(invitation, InvitationLink):
            invitation_links.accept(context, invitation, account)
        else:
            invitations.accept(context, invitation, account)
    except _REFUSED:
        return page
    return None


def _with_organization(context: Context, invitation: Invitation | InvitationLink | None) -> Found | None:
    organization = organizations.by_id(context, invitation.org_id) if invitation is not None else None
    is_on = context.tenant.settings.organizations.enabled
    return (invitation, organization) if invitation is not None and organization is not None and is_on else None
