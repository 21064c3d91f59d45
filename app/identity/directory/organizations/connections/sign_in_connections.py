"""The connections of organizations by which people can sign in now, and the addresses that each may assert."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from sqlalchemy import ColumnElement, bindparam, select, true

from app.contract.federation.pages.connection_pages import ORGANIZATION_LOGIN, SAML_ENTITY
from app.contract.organizations.models import Policies
from app.contract.organizations.settings import ConnectionOption
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_store
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.directory.organizations.connections.organization_connection_store import (
    C,
    OrganizationConnectionRecord,
)
from app.identity.directory.organizations.tables import (
    organization_connections,
    organization_domains,
    organizations,
)
from app.identity.platform.context import Context
from app.identity.platform.store.compiled_statements import TENANT, Compiled

_MAX_OPTIONS: Final = 6
_MAX_TITLE: Final = 30
"""Bounds of what the cookie of a sign-in holds, of which five share one header: most connections, and letters of each title."""
_VERIFIED = Compiled(
    select(organization_domains.c.domain_id).where(
        organization_domains.c.tenant_id == TENANT,
        organization_domains.c.org_id == bindparam("organization"),
        organization_domains.c.verified_domain == bindparam("domain"),
    )
)


def by_id(context: Context, connection_id: str) -> OrganizationConnectionRecord | None:
    """Return the connection with this id, if people can sign in by it."""
    return organization_connection_store.signing_in_by_id(context, connection_id) if _is_on(context) else None


def title(context: Context, connection_id: str) -> str | None:
    """Return the display name of the organization of a connection, active or not; None for a removed one."""
    record = organization_connection_store.by_any_id(context, connection_id)
    organization = organization_store.by_id(context, record.org_id) if record is not None else None
    return organization.display_name if organization is not None else None


def by_address(context: Context, address_key: str) -> OrganizationConnectionRecord | None:
    """Return the connection with this opaque part of its addresses, if people can sign in by it."""
    return organization_connection_store.signing_in_at(context, address_key) if _is_on(context) else None


def of_domain(context: Context, domain: str) -> list[OrganizationConnectionRecord]:
    """Return the connections of the organization that verified a domain, the oldest first; one statement."""
    return organization_connection_store.signing_in(context, true(), verified_domain=domain) if _is_on(context) else []


def has_any_with_domain(context: Context) -> bool:
    """Return whether a connection has a domain of its own."""
    where = (*_signing_in(context), C.domain.is_not(None))
    return _is_on(context) and context.work.one(select(C.connection_id).where(*where).limit(1)) is not None


def limiting_policies(context: Context) -> Iterator[Policies]:
    """Yield the policies of the organizations with a connection and a verified domain that limit the methods of their members."""
    if not _is_on(context):
        return
    o, d = organizations.c, organization_domains.c
    joined = organization_connections.join(organizations, (o.tenant_id == C.tenant_id) & (o.org_id == C.org_id))
    joined = joined.join(organization_domains, (d.tenant_id == C.tenant_id) & (d.org_id == C.org_id))
    limits = o.policies["MethodPolicy"]["AllowedMethods"].as_string().is_not(None)
    where = (*_signing_in(context), o.is_active, limits, d.verified_domain.is_not(None))
    rows = context.work.all(select(o.org_id, o.policies).select_from(joined).where(*where))
    yield from map(Policies.model_validate, {row.org_id: row.policies for row in rows}.values())


def options(context: Context, found: Sequence[OrganizationConnectionRecord]) -> list[ConnectionOption]:
    """Return the connections of one organization as buttons for visitors who may not be members, the oldest first.

    The only one has the name of its organization, which the page shows above several.
    """
    is_alone = len(found) == 1
    return [
        ConnectionOption(
            connection=item.connection_id,
            title=(item.public_title if is_alone else item.name)[:_MAX_TITLE],
            login_url=context.issuer
            + (SAML_ENTITY if item.is_saml else ORGANIZATION_LOGIN).format(address_key=item.address_key),
        )
        for item in found[:_MAX_OPTIONS]
    ]


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
    named = {"tenant": context.tenant.tenant_id, "organization": org_id, "domain": domain}
    return bool(domain) and context.work.one(_VERIFIED, named) is not None


def owns_account(context: Context, org_id: str, account: Account) -> bool:
    """Return whether an account has a verified address in a domain that an organization has verified."""
    return has_any_verified(context, [org_id], account.email_list.verified_domains)


def has_any_verified(context: Context, org_ids: Collection[str], domains: Collection[str]) -> bool:
    """Return whether one of these organizations has verified one of these domains."""
    d = organization_domains.c
    where = (d.tenant_id == context.tenant.tenant_id, d.org_id.in_(org_ids), d.verified_domain.in_(domains))
    return context.work.one(select(d.domain_id).where(*where).limit(1)) is not None


def _signing_in(context: Context) -> tuple[ColumnElement[bool], ...]:
    return (C.tenant_id == context.tenant.tenant_id, C.is_active)


def _is_on(context: Context) -> bool:
    return context.tenant.settings.organizations.enabled
