"""Whether an account can join an organization by an invitation, and the joining (decisions 0190 and 0197)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from app.contract import errors
from app.contract.organizations.pages.invitation_pages import InvitationState
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.organizations import organizations
from app.identity.directory.organizations.invitations import granted_roles, invitation_store, shared_invitation_store
from app.identity.directory.organizations.invitations.invitation import (
    ACCEPTED,
    ACCEPTED_BY,
    EXPIRED,
    USED_UP,
    AnyInvitation,
    EmailInvitation,
)
from app.identity.directory.organizations.memberships import membership_store, memberships
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.operations.errors import ApiError

Found = tuple[AnyInvitation, OrganizationRecord]
"""An invitation of either kind, in any state, and its organization."""
_ERRORS: Final[dict[InvitationState, type[ApiError]]] = {
    InvitationState.INACTIVE: errors.OrganizationInactive,
    InvitationState.FULL: errors.NoSeatLeft,
    InvitationState.OTHER: errors.WrongInvitationEmail,
    InvitationState.DOMAIN: errors.WrongInvitationEmail,
    InvitationState.UNVERIFIED: errors.WrongInvitationEmail,
}
"""The errors of refusals; the others are ClosedInvitation."""


@dataclass(frozen=True)
class JoinState:
    """Whether a visitor can join by an invitation."""

    is_member: bool
    refusal: InvitationState | None
    """Why the visitor cannot; None if nothing is in the way."""


def join_state(
    context: Context, invitation: AnyInvitation, organization: OrganizationRecord, account: Account | None
) -> JoinState:
    """Return whether the account can join, or a visitor who has not signed in.

    A refusal of everyone goes before one of this account, so that nobody signs in first to see it. Members keep their seats.
    """
    is_member = account is not None and bool(membership_store.of_account(context, account.uid, organization.org_id))
    refusal = _refusal_of_everyone(context, invitation, organization)
    if refusal is None and not is_member and memberships.is_full(context, organization):
        refusal = InvitationState.FULL
    if refusal is None and account is not None:
        refusal = _refusal_of_account(context, invitation, account)
    return JoinState(is_member, refusal)


def find(context: Context, token_hash: str) -> Found | None:
    """Return the invitation with this token; None if there is none, or the organization is gone."""
    invitation = invitation_store.by_token_hash(context, token_hash)
    organization = organizations.by_id(context, invitation.org_id) if invitation is not None else None
    return (invitation, organization) if invitation is not None and organization is not None else None


def require_open(context: Context, token: str) -> Found:
    """Return the open invitation with this token. Raises ClosedInvitation, OrganizationInactive."""
    found = find(context, randomness.digest(token))
    if found is None or not found[0].is_open:
        raise errors.ClosedInvitation
    return found[0], organizations.active(found[1])


def accept(
    context: Context, invitation: AnyInvitation, account: Account, token_hash: str | None = None
) -> AnyInvitation:
    """Make the account a member; of simultaneous requests as many succeed as the invitation admits.

    `join_state` decides again, by the account and the invitation as they are now; `token_hash` must still be that of its token.
    A member gets the roles of an invitation by email, and costs no use of a shared one.

    Raises:
        ClosedInvitation: it is no longer open, or has a newer token.
        OrganizationInactive, WrongInvitationEmail, NoSeatLeft: the other refusals of `join_state`.
    """
    if not invitation.is_open:
        raise errors.ClosedInvitation
    organization = organizations.lock_active(context, invitation.org_id, is_alone=True)
    current = account_store.by_uid(context, account.uid) if account_store.lock_unread(context, account.uid) else None
    if current is None:
        raise errors.WrongInvitationEmail
    invitation = _found(invitation_store.locked(context, invitation.invitation_id, token_hash))
    state = join_state(context, invitation, organization, current)
    if state.is_member and invitation.is_shared:
        return invitation
    if state.refusal is not None:
        raise _ERRORS.get(state.refusal, errors.ClosedInvitation)
    role_ids = granted_roles.lock_remaining_roles(context, organization, invitation.role_ids)
    used = _found(_use(context, invitation, current))
    join(context, current, organization, role_ids)
    event = "organization.joined_by_link" if used.is_shared else "organization.invitation_accepted"
    context.audit.record(event, uid=current.uid, org_id=used.org_id, invitation_id=used.invitation_id)
    return used


def join(context: Context, account: Account, organization: OrganizationRecord, role_ids: Collection[str]) -> None:
    """Make the account a member. Raises NoSeatLeft, and ClosedInvitation if a role was deleted in the meantime."""
    try:
        memberships.join(context, account, organization, role_ids)
    except errors.MalformedRoleId:
        raise errors.ClosedInvitation from None


def _refusal_of_everyone(
    context: Context, invitation: AnyInvitation, organization: OrganizationRecord
) -> InvitationState | None:
    if not organization.is_active:
        return InvitationState.INACTIVE
    if not invitation.is_open:
        return _ended(invitation)
    if not granted_roles.inviter_can_grant(context, organization, invitation):
        return InvitationState.REVOKED
    if not granted_roles.remaining_roles(context, organization, invitation.role_ids):
        return InvitationState.REVOKED
    return None


def _ended(invitation: AnyInvitation) -> InvitationState:
    ended = {EXPIRED: InvitationState.EXPIRED, USED_UP: InvitationState.USED_UP, ACCEPTED: InvitationState.ACCEPTED}
    withdrawn = InvitationState.DECLINED if invitation.is_declined else InvitationState.REVOKED
    return ended.get(invitation.status, withdrawn)


def _refusal_of_account(context: Context, invitation: AnyInvitation, account: Account) -> InvitationState | None:
    if isinstance(invitation, EmailInvitation):
        return None if is_verified(account, invitation.email_key) else InvitationState.OTHER
    if not shared_invitation_store.may_use(context, invitation, account.uid):
        return InvitationState.REVOKED
    own = account.email_list.verified_domains
    if not own:
        return InvitationState.UNVERIFIED
    return None if not invitation.domains or own & set(invitation.domains) else InvitationState.DOMAIN


def _use(context: Context, invitation: AnyInvitation, account: Account) -> AnyInvitation | None:
    """Close an invitation by email, or count a use of a shared one; None if another request was faster."""
    if isinstance(invitation, EmailInvitation):
        return invitation_store.close(context, invitation, ACCEPTED, **{ACCEPTED_BY: account.uid})
    used = shared_invitation_store.use(context, invitation)
    if used is not None:
        shared_invitation_store.record_use(context, used, account.uid)
    return used


def _found(invitation: AnyInvitation | None) -> AnyInvitation:
    if invitation is None:
        raise errors.ClosedInvitation
    return invitation
