"""The connections of organizations by which people can sign in now, and the addresses that each may assert."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, select

from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_store
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.directory.organizations.connections.organization_connection_store import (
    C,
    OrganizationConnectionRecord,
)
from app.identity.directory.organizations.tables import organization_domains
from app.identity.platform.context import Context


def by_id(context: Context, connection_id: str) -> OrganizationConnectionRecord | None:
    """Return the connection with this id, if people can sign in by it."""
    return _first(context, C.connection_id == connection_id)


def title(context: Context, connection_id: str) -> str | None:
    """Return the display name of the organization of a connection, active or not; None for a removed one."""
    record = organization_connection_store.by_any_id(context, connection_id)
    organization = organization_store.by_id(context, record.org_id) if record is not None else None
    return organization.display_name if organization is not None else None


def by_address(context: Context, address_key: str) -> OrganizationConnectionRecord | None:
    """Return the connection with this opaque part of its addresses, if people can sign in by it."""
    return _first(context, C.address_key == address_key)


def by_domain(context: Context, domain: str) -> OrganizationConnectionRecord | None:
    """Return the connection to which addresses of a domain lead: its own domain, verified by its organization."""
    return _first(context, C.domain == domain, has_verified_domain=True)


def has_any_with_domain(context: Context) -> bool:
    """Return whether any domain may lead to a connection."""
    where = (C.tenant_id == context.tenant.tenant_id, C.is_active, C.domain.is_not(None))
    return _is_on(context) and context.work.one(select(C.connection_id).where(*where).limit(1)) is not None


def of_organizations(context: Context, org_ids: Collection[str]) -> list[OrganizationConnectionRecord]:
    """Return the connections by which members of these organizations can sign in, the oldest first."""
    if not org_ids or not _is_on(context):
        return []
    return organization_connection_store.signing_in(context, C.org_id.in_(org_ids))


def domain_of_email(email: str) -> str:
    """Return the domain of an address, normalized; empty for other text."""
    return (identifiers.normalize_email(email) or "").rpartition("@")[2]


def owns_email(context: Context, org_id: str, email: str) -> bool:
    """Return whether an organization has verified the domain of an address; the domain alone, not those below it."""
    domain = domain_of_email(email)
    return bool(domain) and has_any_verified(context, [org_id], [domain])


def owns_account(context: Context, org_id: str, account: Account) -> bool:
    """Return whether an account has a verified address in a domain that an organization has verified."""
    return has_any_verified(context, [org_id], account.email_list.verified_domains)


def has_any_verified(context: Context, org_ids: Collection[str], domains: Collection[str]) -> bool:
    """Return whether one of these organizations has verified one of these domains."""
    d = organization_domains.c
    where = (d.tenant_id == context.tenant.tenant_id, d.org_id.in_(org_ids), d.verified_domain.in_(domains))
    return context.work.one(select(d.domain_id).where(*where).limit(1)) is not None


def _first(
    context: Context, where: ColumnElement[bool], *, has_verified_domain: bool = False
) -> OrganizationConnectionRecord | None:
    """Return the oldest connection that satisfies a condition, if people can sign in by it."""
    if not _is_on(context):
        return None
    found = organization_connection_store.signing_in(context, where, has_verified_domain=has_verified_domain, limit=1)
    return found[0] if found else None


def _is_on(context: Context) -> bool:
    return context.tenant.settings.organizations.enabled
