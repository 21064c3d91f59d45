"""The open invitations to an account's verified email addresses, which stand in for the emailed link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.contract.organizations.views import InvitationHint
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_store
from app.identity.directory.organizations.invitations import invitations, join_by_invitation
from app.identity.directory.organizations.invitations.invitation import InvitationRecord
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context

_READ: Final = 20
_NAMED: Final = 3


@dataclass(frozen=True)
class ReceivedInvitation:
    """An invitation that the account can join by, and its organization."""

    invitation: InvitationRecord
    organization: OrganizationRecord


def pending(context: Context, account: Account) -> list[ReceivedInvitation]:
    """Return the invitations that the account can join by, the newest first; one statement where there are none."""
    found = invitations.to_account(context, account, _READ)
    if not found:
        return []
    organizations = {item.org_id: item for item in organization_store.by_ids(context, {item.org_id for item in found})}
    return [
        ReceivedInvitation(item, organizations[item.org_id])
        for item in found
        if item.org_id in organizations and _can_join(context, item, organizations[item.org_id], account)
    ]


def _can_join(
    context: Context, invitation: InvitationRecord, organization: OrganizationRecord, account: Account
) -> bool:
    state = join_by_invitation.join_state(context, invitation, organization, account)
    return state.refusal is None and not state.is_member


def hint(found: list[ReceivedInvitation]) -> InvitationHint:
    """Return how many invitations the account can join by, and the names of the first organizations."""
    names = dict.fromkeys(item.organization.display_name for item in found)
    return InvitationHint(count=len(found), organizations=list(names)[:_NAMED])
