"""Open invitations as the pages of those who manage an organization show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.contract.organizations.pages.open_invitations import ActiveSharedInvitation, PendingInvitation
from app.identity.directory.organizations.invitations.invitation import (
    AnyInvitation,
    EmailInvitation,
    SharedInvitation,
)
from app.identity.directory.organizations.memberships import managed_organization, memberships
from app.identity.directory.organizations.memberships.managed_organization import ManagedOrganization, OfferedRole
from app.identity.platform.context import Context
from app.identity.use_cases.organizations import send_invitation
from app.kit.clock import iso


@dataclass(frozen=True)
class InvitationViews:
    """The roles that invitations give, as the manager of the organization sees them; without a statement for each."""

    scope: ManagedOrganization
    offered: Mapping[str, OfferedRole]
    """By id."""
    default: Sequence[str]
    """Ids of the roles of an invitation that names none."""

    def by_email(self, context: Context, item: EmailInvitation) -> PendingInvitation:
        return PendingInvitation(
            id=item.invitation_id,
            email=item.email,
            roles=self._names(item),
            expires_at=iso(item.ends_at) or "",
            resend_in_seconds=send_invitation.seconds_until_resend(context, item),
            can_change=self._can_change(item),
        )

    def shared(self, item: SharedInvitation) -> ActiveSharedInvitation:
        return ActiveSharedInvitation(
            id=item.invitation_id,
            roles=self._names(item),
            expires_at=iso(item.ends_at) or "",
            domains=list(item.domains),
            uses=item.uses,
            max_uses=item.max_uses,
            can_change=self._can_change(item),
        )

    def _roles(self, item: AnyInvitation) -> list[OfferedRole]:
        return [self.offered[role] for role in item.role_ids or self.default if role in self.offered]

    def _names(self, item: AnyInvitation) -> list[str]:
        return list(dict.fromkeys(role.role.name for role in self._roles(item)))

    def _can_change(self, item: AnyInvitation) -> bool:
        return all(self.scope.can_give(role.permissions) for role in self._roles(item))


def of(context: Context, scope: ManagedOrganization) -> InvitationViews:
    """Return the views for those who manage an organization."""
    offered = managed_organization.offered_roles(context, scope.organization.org_id)
    default = memberships.default_role_ids(context, scope.organization)
    return InvitationViews(scope, {item.role.role_id: item for item in offered}, default)
