"""The rules of invitations: who may be invited, and who may accept (decisions/0190). Emails are sent by programs/invitations."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from app.contract import errors as e
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts import store as account_store
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.identifiers import normalize_email
from app.identity.directory.organizations import invitation_store as store
from app.identity.directory.organizations import member_store, memberships, names, role_store, service
from app.identity.directory.organizations import store as organization_store
from app.identity.directory.organizations.invitation import ACCEPTED, ACCEPTED_BY, DECLINED, REVOKED, URL, Invitation
from app.identity.directory.organizations.organization import Organization
from app.identity.platform.context import Context


@dataclass(frozen=True)
class Wanted:
    """A new invitation as a caller asked for it. `url` is the page of an application that the link opens."""

    org_id: str
    email: str
    role_ids: Collection[str]
    inviter_uid: str
    url: str | None = None


def create(context: Context, wanted: Wanted) -> tuple[Invitation, Organization, str]:
    """Add an invitation; return it with the organization and the token of its link.

    Raises:
        WrongInvitationEmail: the address is malformed.
        OrganizationIdMissing, MalformedOrganizationId, UnknownOrganization, OrganizationInactive.
        MalformedRoleId, UnknownOrganizationRole: also for a role of another organization.
        BadParameter: without roles, and there is no role of new members.
        WrongInviter: no account, or no member of the organization.
        AlreadyMember, InvitationExists, NoSeatLeft.
    """
    organization = _lock(context, wanted.org_id)
    email_key = normalize_email(wanted.email)
    if email_key is None or len(email_key) > 320:
        raise e.WrongInvitationEmail
    role_ids = _checked_roles(context, organization, wanted.role_ids)
    inviter = require_inviter(context, organization, wanted.inviter_uid)
    holder = accounts.by_email(context, email_key)
    if holder is not None and member_store.of_account(context, holder.uid, organization.org_id):
        raise e.AlreadyMember
    taken = member_store.count(context, organization.org_id) + store.count_open(context, organization.org_id)
    if organization.seats is not None and taken >= organization.seats:
        raise e.NoSeatLeft
    facts = {URL: wanted.url} if wanted.url else {}
    invitation, token = store.add(
        context, org_id=organization.org_id, email=wanted.email.strip(), email_key=email_key, role_ids=role_ids,
        inviter_uid=inviter.uid, facts=facts,
    )  # fmt: skip
    _record(context, "organization.invited", invitation)
    return invitation, organization, token


def require(context: Context, invitation_id: str) -> tuple[Invitation, Organization]:
    """Return the invitation and its active organization.

    Raises ClosedInvitation for a malformed id, UnknownOrganizationInvitation, OrganizationInactive.
    """
    if not names.is_id(names.INVITATION, invitation_id):
        raise e.ClosedInvitation
    invitation = store.by_id(context, invitation_id)
    organization = service.by_id(context, invitation.org_id) if invitation is not None else None
    if invitation is None or organization is None:
        raise e.UnknownOrganizationInvitation
    return invitation, service.active(organization)


def require_open(context: Context, token: str) -> tuple[Invitation, Organization]:
    """Return the open invitation of a link. Raises ClosedInvitation, OrganizationInactive."""
    invitation = store.by_token(context, token)
    organization = service.by_id(context, invitation.org_id) if invitation is not None else None
    if invitation is None or organization is None or not invitation.is_open:
        raise e.ClosedInvitation
    return invitation, service.active(organization)


def change_roles(
    context: Context, invitation: Invitation, organization: Organization, role_ids: Collection[str]
) -> Invitation:
    """Change the roles of an open invitation. Raises ClosedInvitation, MalformedRoleId, UnknownOrganizationRole, BadParameter."""
    _require_open(invitation)
    checked = _checked_roles(context, organization, role_ids)
    changed = _found(store.change(context, invitation, role_ids=checked))
    _record(context, "organization.invitation_changed", changed)
    return changed


def renew_token(context: Context, invitation: Invitation, url: str | None) -> tuple[Invitation, str]:
    """Return the open invitation with a new token and lifetime; the earlier link ends. Raises ClosedInvitation."""
    _require_open(invitation)
    if url:
        invitation = _found(store.change(context, invitation, facts={**invitation.facts, URL: url}))
    renewed = store.renew_token(context, invitation)
    if renewed is None:
        raise e.ClosedInvitation
    _record(context, "organization.invitation_resent", renewed[0])
    return renewed


def revoke(context: Context, invitation: Invitation) -> Invitation:
    """End an open invitation. Raises ClosedInvitation."""
    _require_open(invitation)
    revoked = _found(store.close(context, invitation, REVOKED))
    _record(context, "organization.invitation_revoked", revoked)
    return revoked


def decline(context: Context, token: str) -> Invitation:
    """End the open invitation of a link, on behalf of its owner. Raises ClosedInvitation, OrganizationInactive."""
    invitation, _ = require_open(context, token)
    declined = _found(store.close(context, invitation, REVOKED, **{DECLINED: True}))
    _record(context, "organization.invitation_declined", declined)
    return declined


def accept(context: Context, invitation: Invitation, account: Account, token: str | None = None) -> Invitation:
    """Make the account a member, once: of simultaneous requests one succeeds.

    The invitation decides as it is now, not as the caller read it; `token` must still be that of its link.

    Raises:
        ClosedInvitation: it is no longer open, has a newer link, or no role of it is left.
        OrganizationInactive: of the invitation.
        WrongInvitationEmail: the account has not verified the invited address.
        NoSeatLeft: the organization is full.
    """
    _require_open(invitation)
    organization = _lock(context, invitation.org_id)
    # As it is now: the address may have been changed since the caller read the account.
    current = account_store.by_uid(context, account.uid) if account_store.lock(context, account.uid) else None
    if current is None or not is_verified(current, invitation.email_key):
        raise e.WrongInvitationEmail
    invitation = _found(store.locked(context, invitation.invitation_id, token))
    _require_open(invitation)
    role_ids = _remaining_roles(context, organization, invitation.role_ids)
    if not role_ids:
        raise e.ClosedInvitation
    is_member = bool(member_store.of_account(context, account.uid, organization.org_id))
    is_full = organization.seats is not None and member_store.count(context, organization.org_id) >= organization.seats
    if is_full and not is_member:
        raise e.NoSeatLeft
    accepted = _found(store.close(context, invitation, ACCEPTED, **{ACCEPTED_BY: account.uid}))
    try:
        memberships.join(context, current, organization, role_ids)
    except e.MalformedRoleId:  # deleted in the meantime
        raise e.ClosedInvitation from None
    _record(context, "organization.invitation_accepted", accepted, uid=account.uid)
    return accepted


def require_inviter(context: Context, organization: Organization, uid: str) -> Account:
    """Return the member who invites. Raises WrongInviter."""
    account = inviter(context, uid)
    if account is None or not member_store.of_account(context, account.uid, organization.org_id):
        raise e.WrongInviter
    return account


def inviter(context: Context, uid: str) -> Account | None:
    """Return the account that invited, also under an id that it had; None if it is gone."""
    if not uid.strip() or len(uid) > 64:
        return None
    account = account_store.by_uid(context, uid)
    if account is None and (current := account_store.current_uid(context, uid)):
        account = account_store.by_uid(context, current)
    return account if account is not None and not account.is_deleted else None


def holder(context: Context, invitation: Invitation) -> Account | None:
    """Return the account that has verified the invited address."""
    account = accounts.by_email(context, invitation.email_key)
    return account if account is not None and is_verified(account, invitation.email_key) else None


def _checked_roles(context: Context, organization: Organization, role_ids: Collection[str]) -> list[str]:
    wanted = list(dict.fromkeys(role_ids))
    if not all(names.is_id(names.ROLE, one) for one in wanted):
        raise e.MalformedRoleId
    if not wanted and not memberships.default_role_ids(context, organization):
        raise e.BadParameter("The roleIds is a required parameter: the organization has no role of new members.")
    if wanted and len(_remaining_roles(context, organization, wanted)) < len(wanted):
        raise e.UnknownOrganizationRole
    return wanted


def _remaining_roles(context: Context, organization: Organization, role_ids: Collection[str]) -> list[str]:
    """Return those of the roles that still exist and fit the organization; the role of new members for none."""
    found = {role.role_id for role in role_store.by_ids(context, set(role_ids)) if role.fits(organization.org_id)}
    remaining = [one for one in role_ids if one in found]
    return remaining if role_ids else memberships.default_role_ids(context, organization)


def _lock(context: Context, org_id: str) -> Organization:
    """Return the active organization, locked. With a number of seats no other request may lock it too, or two would take the last."""
    organization = service.require_active(context, org_id)
    locked = organization_store.locked(context, organization.org_id, is_alone=organization.seats is not None)
    if locked is None:
        raise e.UnknownOrganization
    return service.active(locked)


def _require_open(invitation: Invitation) -> None:
    if not invitation.is_open:
        raise e.ClosedInvitation


def _found(invitation: Invitation | None) -> Invitation:
    if invitation is None:
        raise e.ClosedInvitation
    return invitation


def _record(context: Context, event: str, invitation: Invitation, uid: str | None = None) -> None:
    facts = {"org_id": invitation.org_id, "invitation_id": invitation.invitation_id}
    context.audit.record(event, uid=uid or invitation.inviter_uid, **facts)
