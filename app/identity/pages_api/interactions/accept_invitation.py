"""Joins an organization at the end of a sign-in or registration that an invitation began."""

from __future__ import annotations

from app.contract import errors
from app.contract.steps import InvitationStep, StepResponse
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts import account_store
from app.identity.directory.organizations.invitations import join_by_invitation
from app.identity.directory.organizations.invitations.join_by_invitation import Found
from app.identity.directory.organizations.memberships import memberships
from app.identity.platform.context import Context

_REFUSED = (
    errors.ClosedInvitation,
    errors.OrganizationInactive,
    errors.UnknownOrganization,
    errors.WrongInvitationEmail,
    errors.NoSeatLeft,
)


def by_token_hash(context: Context, token_hash: str) -> Found | None:
    """Return the invitation with this token; None if there is none, or the organization is gone."""
    if not token_hash or not context.tenant.settings.organizations.enabled:
        return None
    return join_by_invitation.find(context, token_hash)


def invitation_of(context: Context, interaction: Interaction | None) -> Found | None:
    """Return the invitation that began an interaction; None if there is none, or if it has a newer link since."""
    return by_token_hash(context, token_hash_of(interaction))


def token_hash_of(interaction: Interaction | None) -> str:
    """Return the hash of the token by which this browser opened an invitation; empty if it opened none."""
    return (interaction.state.invitation_token_hash or "") if interaction is not None else ""


def is_of(interaction: Interaction | None) -> bool:
    """Return whether an invitation began the interaction."""
    return interaction is not None and interaction.state.invitation is not None


def invited_email(context: Context, interaction: Interaction | None) -> str:
    """Return the address that a registration in this interaction must have, and need not verify.

    Empty without an open invitation by email: a shared one fixes no address.
    """
    found = invitation_of(context, interaction)
    if found is None or not found[0].is_open or not found[1].is_active:
        return ""
    return found[0].addressee or ""


def accept(context: Context, interaction: Interaction, session: BrowserSession) -> StepResponse | None:
    """Join the organization of the interaction; return the page of the invitation if that is refused.

    Returns None without an invitation, and for an account that is a member already.
    """
    if not is_of(interaction):
        return None
    page = StepResponse(step=InvitationStep(), interaction_id=interaction.interaction_id)
    found, account = invitation_of(context, interaction), account_store.by_uid(context, session.uid)
    if found is None or account is None:
        return page
    invitation, organization = found
    is_member = memberships.in_organization(context, account, organization.org_id) is not None
    if is_member and not invitation.is_open:
        return None
    try:
        join_by_invitation.accept(context, invitation, account, token_hash_of(interaction))
    except _REFUSED:
        return page
    return None
