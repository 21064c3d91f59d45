"""The open invitations to an account's verified email addresses, which prove its mailbox instead of the emailed link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from app.contract.hub_models import InvitationHint
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import invitations, inviting, member_store, store
from app.identity.directory.organizations.invitation import Invitation
from app.identity.directory.organizations.organization import Organization
from app.identity.platform.context import Context

_READ: Final = 20
_NAMED: Final = 3


@dataclass(frozen=True)
class OwnInvitation:
    """An invitation that the account can answer, and its organization."""

    invitation: Invitation
    organization: Organization


def pending(context: Context, account: Account) -> list[OwnInvitation]:
    """Return the invitations that the account can answer, the newest first; one statement where there are none."""
    found = invitations.to_account(context, account, _READ)
    if not found:
        return []
    organizations = {one.org_id: one for one in store.by_ids(context, {one.org_id for one in found}) if one.is_active}
    joined = {one.org_id for one in member_store.of_account(context, account.uid)}
    return [
        OwnInvitation(one, organizations[one.org_id])
        for one in found
        if one.org_id in organizations
        and one.org_id not in joined
        and inviting.is_backed(context, organizations[one.org_id], one)
    ]


def hint(found: list[OwnInvitation]) -> InvitationHint:
    """Return how many invitations the account can answer, and the names of the first organizations."""
    names = dict.fromkeys(one.organization.display_name for one in found)
    return InvitationHint(count=len(found), organizations=list(names)[:_NAMED])
