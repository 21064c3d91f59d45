"""The rules of invitation links: their creation and revocation (decision 0197)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from app.contract import errors
from app.identity.directory.organizations import organization_names, organizations
from app.identity.directory.organizations.domains import domains
from app.identity.directory.organizations.invitations import invitation_link_store, invitation_rules
from app.identity.directory.organizations.invitations.invitation import (
    DOMAINS,
    LIFETIME,
    MANAGED,
    URL,
    InvitationLinkRecord,
)
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform.context import Context

MAX_ACTIVE: Final = 20
"""Links of an organization that can be used at the same time."""


@dataclass(frozen=True)
class InvitationLinkRequest:
    """A new link as a caller asked for it."""

    org_id: str
    role_ids: Collection[str]
    inviter_uid: str
    domains: Collection[str] = ()
    max_uses: int | None = None
    lifetime: timedelta = LIFETIME
    url: str | None = None
    is_managed: bool = False


def create(context: Context, request: InvitationLinkRequest) -> tuple[InvitationLinkRecord, str]:
    """Add a link; return it and its token.

    Raises:
        OrganizationIdMissing, MalformedOrganizationId, UnknownOrganization, OrganizationInactive.
        MalformedRoleId, UnknownOrganizationRole, WrongInviter: as for an invitation.
        BadParameter: a domain is malformed; without roles, and there is no role of new members.
        TooManyInvitationLinks.
    """
    organization = organizations.lock_active(context, request.org_id, is_alone=True)
    role_ids = invitation_rules.validated_roles(context, organization, request.role_ids)
    inviter = invitation_rules.require_inviter(context, organization, request.inviter_uid)
    if invitation_link_store.count_open(context, organization.org_id) >= MAX_ACTIVE:
        raise errors.TooManyInvitationLinks
    facts: dict[str, Any] = {DOMAINS: list(dict.fromkeys(map(checked_domain, request.domains)))}
    facts |= {URL: request.url} if request.url else {}
    facts |= {MANAGED: True} if request.is_managed else {}
    link, token = invitation_link_store.add(
        context, org_id=organization.org_id, role_ids=role_ids, inviter_uid=inviter.uid, facts=facts,
        ends_at=context.now + request.lifetime, max_uses=request.max_uses,
    )  # fmt: skip
    record(context, "organization.link_created", link, by=inviter.uid)
    return link, token


def checked_domain(text: str) -> str:
    """Return a domain in ASCII and lower case. Raises BadParameter for a malformed one."""
    try:
        return domains.normalized(text)
    except errors.BadField:
        raise errors.BadParameter(
            "The domains is not formatted correctly: a domain such as example.com is expected."
        ) from None


def require(context: Context, link_id: str) -> tuple[InvitationLinkRecord, OrganizationRecord]:
    """Return the link and its active organization.

    Raises ClosedInvitation for a malformed id, UnknownOrganizationInvitation, OrganizationInactive.
    """
    if not organization_names.is_id(organization_names.INVITATION, link_id):
        raise errors.ClosedInvitation
    link = invitation_link_store.by_id(context, link_id)
    organization = organizations.by_id(context, link.org_id) if link is not None else None
    if link is None or organization is None:
        raise errors.UnknownOrganizationInvitation
    return link, organizations.active(organization)


def revoke(context: Context, link: InvitationLinkRecord, *, by: str | None = None) -> InvitationLinkRecord:
    """Turn a link off; `by`: the member who does. Raises ClosedInvitation."""
    revoked = invitation_link_store.revoke(context, link)
    if revoked is None:
        raise errors.ClosedInvitation
    record(context, "organization.link_revoked", revoked, by=by or link.inviter_uid)
    return revoked


def record(context: Context, event: str, link: InvitationLinkRecord, *, by: str) -> None:
    facts = {"org_id": link.org_id, "invitation_id": link.invitation_id}
    context.audit.record(event, uid=by, **facts)
