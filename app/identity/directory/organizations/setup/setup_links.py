"""The rules of set-up links: creation, the sessions that they open, and their end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from app.contract import errors
from app.contract.organizations import setup_operations
from app.identity.directory.organizations import organization_names, organizations
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.setup import setup_link_store
from app.identity.directory.organizations.setup.setup_link_store import SetupLinkRecord
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken

MAX_ACTIVE: Final = 20
"""Links of an organization that can be opened at the same time."""
PER_MINUTE: Final = 30
"""Requests of one network that name a link or a session: a text that opens something cannot be guessed."""
ACTOR: Final = "setup link"
"""Begins `act` in the audit entries of the guide; the link's ID follows."""


def create(context: Context, req: setup_operations.CreateSetupLink) -> tuple[SetupLinkRecord, str]:
    """Create a link; return it and its address.

    Raises OrganizationIdMissing, MalformedOrganizationId, UnknownOrganization, OrganizationInactive, TooManySetupLinks, BadField for a
    connection that is no active SAML connection of the organization.
    """
    organization = organizations.lock_active(context, req.org_id, is_alone=True)
    if setup_link_store.count_active(context, organization.org_id) >= MAX_ACTIVE:
        raise errors.TooManySetupLinks
    if req.connection_id is not None:
        _require_renewable(context, organization.org_id, req.connection_id)
    link, token = setup_link_store.add(
        context,
        organization.org_id,
        lifetime=timedelta(days=req.days_to_open),
        session_hours=req.session_hours,
        max_openings=req.max_openings,
        joins=req.jit_provisioning,
        connection_id=req.connection_id,
    )
    record(context, "organization.setup_link_created", link)
    return link, f"{context.pages_url}{setup_operations.PAGE}?{setup_operations.TOKEN}={token}"


def _require_renewable(context: Context, org_id: str, connection_id: str) -> None:
    record = organization_connection_store.by_any_id(context, connection_id)
    if record is None or record.org_id != org_id or not (record.is_saml and record.is_active):
        raise errors.BadField(
            "The ConnectionId is not accepted: an active SAML connection of the organization is expected."
        )


def require(context: Context, organization: OrganizationRecord, link_id: str) -> SetupLinkRecord:
    """Return a link of the organization. Raises UnknownSetupLink, also for a malformed id."""
    is_id = organization_names.is_id(organization_names.SETUP_LINK, link_id)
    found = setup_link_store.by_id(context, link_id, org_id=organization.org_id) if is_id else None
    if found is None:
        raise errors.UnknownSetupLink
    return found


def revoke(context: Context, link: SetupLinkRecord) -> SetupLinkRecord:
    """End a link and its sessions. Raises ClosedSetupLink."""
    revoked = setup_link_store.close(context, link, setup_link_store.REVOKED) if _is_active(context, link) else None
    if revoked is None:
        raise errors.ClosedSetupLink
    record(context, "organization.setup_link_revoked", link)
    return revoked


def _is_active(context: Context, link: SetupLinkRecord) -> bool:
    """Return whether a link can be opened, or may have sessions that it opened before."""
    return link.state(context.now) in ("active", "used_up") or _may_have_session(context, link)


def _may_have_session(context: Context, link: SetupLinkRecord) -> bool:
    is_open, opened_at = link.status == setup_link_store.OPEN, link.opened_at
    return is_open and opened_at is not None and opened_at + timedelta(hours=link.session_hours) > context.now


def look_up(context: Context, token: str) -> tuple[SetupLinkRecord, OrganizationRecord] | None:
    """Return the link with this token and its organization, without opening it; None if there is none that ever opened here.

    Raises TooManyRequests.
    """
    context.count_request("setup_link", PER_MINUTE)
    link = setup_link_store.by_token(context, token)
    return _with_organization(context, link) if link is not None else None


def open_session(context: Context, token: str) -> tuple[SetupLinkRecord, ContinuationToken]:
    """Count one opening of a link, and return the session that it opens. Raises ClosedSetupLink, TooManyRequests."""
    found = look_up(context, token)
    used = setup_link_store.use(context, found[0]) if found is not None else None
    if used is None:
        raise errors.ClosedSetupLink
    lifetime, facts = timedelta(hours=used.session_hours), {"link": used.link_id}
    session = continuation_tokens.issue(
        context, ContinuationPurpose.SETUP_SESSION, NO_ACCOUNT, lifetime=lifetime, facts=facts
    )
    record(context, "organization.setup_link_opened", used, openings=used.openings)
    return used, session


def in_session(
    context: Context, text: str, *, renews: bool | None = False
) -> tuple[SetupLinkRecord, OrganizationRecord, ContinuationToken]:
    """Return the link of a session, and its organization; what the request records names the link.

    Args:
        renews: whether the link renews certificates; None: either.

    Raises SetupSessionOver: the session expired, or its link was revoked or is of the other kind, or its organization was deactivated.
    """
    session = continuation_tokens.find(context, ContinuationPurpose.SETUP_SESSION, text)
    is_alive = session is not None and not session.is_expired(context.now)
    link = setup_link_store.by_id(context, str(session.facts["link"])) if session is not None and is_alive else None
    found = _with_organization(context, link) if link is not None else None
    if session is None or found is None or found[0].status == setup_link_store.REVOKED:
        raise errors.SetupSessionOver
    if renews is not None and found[0].renews is not renews:
        raise errors.SetupSessionOver
    context.audit.actor = f"{ACTOR} {found[0].link_id}"
    return *found, session


def require_open(context: Context, link: SetupLinkRecord) -> None:
    """Refuse a change in the guide of a link that was completed or revoked. Raises ClosedSetupLink."""
    current = setup_link_store.by_id(context, link.link_id)
    if current is None or current.status != setup_link_store.OPEN:
        raise errors.ClosedSetupLink


def record(context: Context, event: str, link: SetupLinkRecord, **facts: Any) -> None:
    context.audit.record(event, org_id=link.org_id, link_id=link.link_id, **facts)


def _with_organization(context: Context, link: SetupLinkRecord) -> tuple[SetupLinkRecord, OrganizationRecord] | None:
    """Return a link with its active organization; None if the organization or all organizations are off."""
    if not context.tenant.settings.organizations.enabled:
        return None
    organization = organizations.by_id(context, link.org_id)
    return (link, organization) if organization is not None and organization.is_active else None
