"""Invitations of everyone who has the address: the rules of their creation and end (decision 0197).

The interface calls them invitation links. `use_cases/organizations/send_invitation.py` makes their addresses.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from app.contract import errors
from app.identity.directory.organizations import organization_names, organizations
from app.identity.directory.organizations.domains import domains
from app.identity.directory.organizations.invitations import granted_roles, shared_invitation_store
from app.identity.directory.organizations.invitations.invitation import (
    DOMAINS,
    LIFETIME,
    MANAGED,
    URL,
    SharedInvitation,
)
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context

MAX_ACTIVE: Final = 20
"""Shared invitations of an organization that can be used at the same time."""


@dataclass(frozen=True)
class SharedInvitationRequest:
    """A new shared invitation as a caller asked for it."""

    org_id: str
    role_ids: Collection[str]
    inviter_uid: str
    domains: Collection[str] = ()
    max_uses: int | None = None
    lifetime: timedelta = LIFETIME
    url: str | None = None
    is_managed: bool = False


def create(context: Context, request: SharedInvitationRequest) -> tuple[SharedInvitation, str]:
    """Add a shared invitation; return it and its token.

    Raises:
        OrganizationIdMissing, MalformedOrganizationId, UnknownOrganization, OrganizationInactive.
        MalformedRoleId, UnknownOrganizationRole, WrongInviter: as for an invitation by email.
        BadParameter: a domain is malformed; without roles, and there is no role of new members.
        TooManyInvitationLinks.
    """
    organization = organizations.lock_active(context, request.org_id, is_alone=True)
    role_ids = granted_roles.validated_roles(context, organization, request.role_ids)
    inviter = granted_roles.require_inviter(context, organization, request.inviter_uid)
    if shared_invitation_store.count_open(context, organization.org_id) >= MAX_ACTIVE:
        raise errors.TooManyInvitationLinks
    facts: dict[str, Any] = {DOMAINS: list(dict.fromkeys(map(checked_domain, request.domains)))}
    facts |= {URL: request.url} if request.url else {}
    facts |= {MANAGED: True} if request.is_managed else {}
    invitation, token = shared_invitation_store.add(
        context, org_id=organization.org_id, role_ids=role_ids, inviter_uid=inviter.uid, facts=facts,
        ends_at=context.now + request.lifetime, max_uses=request.max_uses,
    )  # fmt: skip
    _record(context, "organization.link_created", invitation, by=inviter.uid)
    return invitation, token


def checked_domain(text: str) -> str:
    """Return a domain in ASCII and lower case. Raises BadParameter for a malformed one."""
    try:
        return domains.normalized(text)
    except errors.BadField:
        raise errors.BadParameter(
            "The domains is not formatted correctly: a domain such as example.com is expected."
        ) from None


def require(context: Context, invitation_id: str) -> tuple[SharedInvitation, OrganizationRecord]:
    """Return the shared invitation and its active organization.

    Raises ClosedInvitation for a malformed id, UnknownOrganizationInvitation, OrganizationInactive.
    """
    if not organization_names.is_id(organization_names.INVITATION, invitation_id):
        raise errors.ClosedInvitation
    invitation = shared_invitation_store.by_id(context, invitation_id)
    organization = organizations.by_id(context, invitation.org_id) if invitation is not None else None
    if invitation is None or organization is None:
        raise errors.UnknownOrganizationInvitation
    return invitation, organizations.active(organization)


def revoke(context: Context, invitation: SharedInvitation, *, by: str | None = None) -> SharedInvitation:
    """End a shared invitation; `by`: the member who does. Raises ClosedInvitation."""
    revoked = shared_invitation_store.revoke(context, invitation)
    if revoked is None:
        raise errors.ClosedInvitation
    _record(context, "organization.link_revoked", revoked, by=by or invitation.inviter_uid)
    return revoked


def _record(context: Context, event: str, invitation: SharedInvitation, *, by: str) -> None:
    facts = {"org_id": invitation.org_id, "invitation_id": invitation.invitation_id}
    context.audit.record(event, uid=by, **facts)
