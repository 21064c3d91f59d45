"""The rules of invitations by email: creation, renewal, revocation (decision 0190).

`use_cases/organizations/send_invitation.py` sends the emails.
"""

from __future__ import annotations

from collections.abc import Collection

from app.contract import errors
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.organizations import organization_names, organizations
from app.identity.directory.organizations.invitations import invitation_rules, invitation_store
from app.identity.directory.organizations.invitations.invitation import (
    DECLINED,
    REVOKED,
    URL,
    AnyInvitation,
    InvitationRecord,
)
from app.identity.directory.organizations.invitations.invitation_rules import ValidInvitation
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context
from app.kit import randomness


def add(context: Context, checked: ValidInvitation) -> tuple[InvitationRecord, str]:
    """Add an invitation; return it and the token of its link. Raises InvitationExists."""
    invitation, token = invitation_store.add(
        context, org_id=checked.organization.org_id, email=checked.email, email_key=checked.email_key,
        role_ids=checked.role_ids, inviter_uid=checked.inviter.uid, facts=checked.facts,
    )  # fmt: skip
    _record(context, "organization.invited", invitation)
    return invitation, token


def require(context: Context, invitation_id: str) -> tuple[InvitationRecord, OrganizationRecord]:
    """Return the invitation and its active organization.

    Raises ClosedInvitation for a malformed id, UnknownOrganizationInvitation, OrganizationInactive.
    """
    if not organization_names.is_id(organization_names.INVITATION, invitation_id):
        raise errors.ClosedInvitation
    invitation = invitation_store.by_id(context, invitation_id)
    organization = organizations.by_id(context, invitation.org_id) if invitation is not None else None
    if invitation is None or organization is None:
        raise errors.UnknownOrganizationInvitation
    return invitation, organizations.active(organization)


def require_open(context: Context, token: str) -> tuple[InvitationRecord, OrganizationRecord]:
    """Return the open invitation of a link. Raises ClosedInvitation, OrganizationInactive."""
    invitation = invitation_store.by_token_hash(context, randomness.digest(token))
    organization = organizations.by_id(context, invitation.org_id) if invitation is not None else None
    if invitation is None or organization is None or not invitation.is_open:
        raise errors.ClosedInvitation
    return invitation, organizations.active(organization)


def change_roles(
    context: Context, invitation: InvitationRecord, organization: OrganizationRecord, role_ids: Collection[str]
) -> InvitationRecord:
    """Change the roles of an open invitation. Raises ClosedInvitation, MalformedRoleId, UnknownOrganizationRole, BadParameter."""
    _require_open(invitation)
    checked = invitation_rules.validated_roles(context, organization, role_ids)
    changed = _found(invitation_store.change(context, invitation, role_ids=checked))
    _record(context, "organization.invitation_changed", changed)
    return changed


def renew_token(
    context: Context, invitation: InvitationRecord, url: str | None, *, by: str | None = None
) -> tuple[InvitationRecord, str]:
    """Return the open invitation with a new token and lifetime; the earlier link ends. `by`: the member who invites from now on.

    Raises ClosedInvitation.
    """
    _require_open(invitation)
    if url:
        invitation = _found(invitation_store.change(context, invitation, facts={**invitation.facts, URL: url}))
    renewed = invitation_store.renew_token(context, invitation, **({"inviter_uid": by} if by else {}))
    if renewed is None:
        raise errors.ClosedInvitation
    _record(context, "organization.invitation_resent", renewed[0])
    return renewed


def revoke(context: Context, invitation: InvitationRecord, *, by: str | None = None) -> InvitationRecord:
    """End an open invitation; `by`: the member who does. Raises ClosedInvitation."""
    _require_open(invitation)
    revoked = _found(invitation_store.close(context, invitation, REVOKED))
    _record(context, "organization.invitation_revoked", revoked, by)
    return revoked


def decline(context: Context, invitation: InvitationRecord) -> InvitationRecord:
    """End an open invitation on behalf of the owner of its address. Raises ClosedInvitation."""
    _require_open(invitation)
    declined = _found(invitation_store.close(context, invitation, REVOKED, **{DECLINED: True}))
    _record(context, "organization.invitation_declined", declined)
    return declined


def holder(context: Context, invitation: AnyInvitation) -> Account | None:
    """Return the account that has verified the invited address; None for a link."""
    if not isinstance(invitation, InvitationRecord):
        return None
    account = accounts.by_email(context, invitation.email_key)
    return account if account is not None and is_verified(account, invitation.email_key) else None


def to_account(context: Context, account: Account, limit: int) -> list[InvitationRecord]:
    """Return the open invitations to the account's verified addresses, the newest first."""
    if not context.tenant.settings.organizations.enabled:
        return []
    keys = {item.form for item in account.email_list.verified}
    return invitation_store.open_to(context, keys, limit) if keys else []


def require_to_account(context: Context, account: Account, invitation_id: str) -> InvitationRecord:
    """Return an invitation to one of the account's verified addresses, in any state. Raises UnknownOrganizationInvitation."""
    is_known = context.tenant.settings.organizations.enabled and organization_names.is_id(
        organization_names.INVITATION, invitation_id
    )
    invitation = invitation_store.by_id(context, invitation_id) if is_known else None
    if invitation is None or not is_verified(account, invitation.email_key):
        raise errors.UnknownOrganizationInvitation
    return invitation


def _require_open(invitation: InvitationRecord) -> None:
    if not invitation.is_open:
        raise errors.ClosedInvitation


def _found(invitation: InvitationRecord | None) -> InvitationRecord:
    if invitation is None:
        raise errors.ClosedInvitation
    return invitation


def _record(context: Context, event: str, invitation: InvitationRecord, uid: str | None = None) -> None:
    facts = {"org_id": invitation.org_id, "invitation_id": invitation.invitation_id}
    context.audit.record(event, uid=uid or invitation.inviter_uid, **facts)
