"""The open invitations to an account's verified email addresses, which stand in for the emailed link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.contract.organizations.views import InvitationHint
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_store
from app.identity.directory.organizations.invitations import invitation_rules, invitations
from app.identity.directory.organizations.invitations.invitation import InvitationRecord
from app.identity.directory.organizations.memberships import membership_store
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context

_READ: Final = 20
_NAMED: Final = 3


@dataclass(frozen=True)
class ReceivedInvitation:
    """An invitation that the account can answer, and its organization."""

    invitation: InvitationRecord
    organization: OrganizationRecord


def pending(context: Context, account: Account) -> list[ReceivedInvitation]:
    """Return the invitations that the account can answer, the newest first; one statement where there are none."""
    found = invitations.to_account(context, account, _READ)
    if not found:
        return []
    organizations = {
        item.org_id: item
        for item in organization_store.by_ids(context, {item.org_id for item in found})
        if item.is_active
    }
    joined = {member.org_id for member in membership_store.of_account(context, account.uid)}
    return [
        ReceivedInvitation(item, organizations[item.org_id])
        for item in found
        if item.org_id in organizations
        and item.org_id not in joined
        and invitation_rules.inviter_can_grant(context, organizations[item.org_id], item)
    ]


def hint(found: list[ReceivedInvitation]) -> InvitationHint:
    """Return how many invitations the account can answer, and the names of the first organizations."""
    names = dict.fromkeys(item.organization.display_name for item in found)
    return InvitationHint(count=len(found), organizations=list(names)[:_NAMED])
