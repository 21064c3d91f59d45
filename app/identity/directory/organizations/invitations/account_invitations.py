"""The invitations to an account's verified email addresses, which it can accept without the emailed token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.contract import errors
from app.contract.organizations.pages.received_invitation_pages import MAX_INVITATIONS
from app.contract.organizations.views import InvitationHint
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.organizations import organization_names, organization_store
from app.identity.directory.organizations.invitations import invitation_store, join_by_invitation
from app.identity.directory.organizations.invitations.invitation import EmailInvitation
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context

_MAX_NAMES: Final = 3


@dataclass(frozen=True)
class ReceivedInvitation:
    """An invitation that the account can join by, and its organization."""

    invitation: EmailInvitation
    organization: OrganizationRecord


def pending(context: Context, account: Account) -> list[ReceivedInvitation]:
    """Return the invitations that the account can join by, the newest first; one statement where there are none."""
    found = _open_to(context, account)
    if not found:
        return []
    organizations = {item.org_id: item for item in organization_store.by_ids(context, {item.org_id for item in found})}
    return [
        ReceivedInvitation(item, organizations[item.org_id])
        for item in found
        if item.org_id in organizations and _can_join(context, item, organizations[item.org_id], account)
    ]


def require(context: Context, account: Account, invitation_id: str) -> EmailInvitation:
    """Return an invitation to one of the account's verified addresses, in any state. Raises UnknownOrganizationInvitation."""
    is_known = context.tenant.settings.organizations.enabled and organization_names.is_id(
        organization_names.INVITATION, invitation_id
    )
    invitation = invitation_store.by_id(context, invitation_id) if is_known else None
    if invitation is None or not is_verified(account, invitation.email_key):
        raise errors.UnknownOrganizationInvitation
    return invitation


def hint(found: list[ReceivedInvitation]) -> InvitationHint:
    """Return how many invitations the account can join by, and the names of the first organizations."""
    names = dict.fromkeys(item.organization.display_name for item in found)
    return InvitationHint(count=len(found), organizations=list(names)[:_MAX_NAMES])


def _open_to(context: Context, account: Account) -> list[EmailInvitation]:
    if not context.tenant.settings.organizations.enabled:
        return []
    keys = {item.normalized for item in account.email_list.verified}
    return invitation_store.open_to(context, keys, MAX_INVITATIONS) if keys else []


def _can_join(
    context: Context, invitation: EmailInvitation, organization: OrganizationRecord, account: Account
) -> bool:
    state = join_by_invitation.join_state(context, invitation, organization, account)
    return state.refusal is None and not state.is_member
