"""Reads tenants and applications.

Lookups by host, key and secret name no tenant, nor does the list of all tenants for the worker and the commands.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import ColumnElement, bindparam, false, or_, select, true, union_all
from sqlalchemy.engine import Row

from app.contract.applications.settings import ApplicationSettings
from app.contract.tenants.branding import Brand, stored_brand
from app.contract.tenants.settings import TenantSettings
from app.identity.directory.tenants.tables import applications, custom_hosts, tenants
from app.identity.directory.tenants.tenant_writes import TenantRow, secret_digest
from app.identity.platform.store.compiled_statements import Compiled
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.platform.tenant import Application, Tenant, version_tag
from app.kit.web.urls import origin_of

H = custom_hosts.c
LOOKUP_TENANT = "lookup"  # the reserved tenant id of units of work that look tenants up (migrations/ddl.py)

NO_TENANT: Final = Tenant(LOOKUP_TENANT, "", "", b"", 0, TenantSettings(), Brand())
"""The tenant of requests that belong to none: their units of work can only look tenants up."""


def by_name(work: UnitOfWork, name: str) -> Tenant | None:
    """Return the active tenant with this name."""
    return _only(work, tenants.c.name == name)


def by_id(work: UnitOfWork, tenant_id: str) -> Tenant | None:
    """Return the active tenant with this id."""
    return _only(work, tenants.c.tenant_id == tenant_id)


def by_custom_host(work: UnitOfWork, host: str) -> Tenant | None:
    """Return the active tenant that verified this custom domain."""
    return _only(work, tenants.c.tenant_id == select(H.tenant_id).where(H.host == host).scalar_subquery())


def by_key(work: UnitOfWork, api_key: str) -> Tenant | None:
    """Return the active tenant with this API key."""
    return _only(work, tenants.c.api_key == api_key)


def by_secret(work: UnitOfWork, api_secret: str) -> Tenant | None:
    """Return the only active tenant with this API secret; None if several share it, which must send their API key."""
    return _only(work, tenants.c.api_secret_hash == secret_digest(api_secret))


def by_client(work: UnitOfWork, client_id: str, secret_hash: str) -> Tenant | None:
    """Return the only active tenant whose client has this id and the secret of this digest, or had it before a rotation."""
    c = applications.c
    has_secret = or_(c.secret_hash == secret_hash, c.former_secret_hash == secret_hash)
    owners = select(c.tenant_id).where(c.client_id == client_id, has_secret)
    return _only(work, tenants.c.tenant_id.in_(owners))


_VERSION = Compiled(select(tenants.c.version).where(tenants.c.tenant_id == bindparam("tenant"), tenants.c.is_active))


def version(work: UnitOfWork, tenant_id: str) -> int | None:
    """Return the current version of a tenant's configuration; None if the tenant is gone."""
    row = work.one(_VERSION, {"tenant": tenant_id})
    return int(row[0]) if row else None


def current_tags(
    work: UnitOfWork, names: Collection[str], hosts: Collection[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the present version tags of active tenants, by name and by custom domain, in one statement."""
    t = tenants.c
    by_name = select(true().label("is_name"), t.name.label("key"), t.tenant_id, t.version).where(
        t.name.in_(names), t.is_active
    )
    by_host = (
        select(false().label("is_name"), H.host.label("key"), t.tenant_id, t.version)
        .join(custom_hosts, H.tenant_id == t.tenant_id)
        .where(H.host.in_(hosts), t.is_active)
    )
    of_names: dict[str, str] = {}
    of_hosts: dict[str, str] = {}
    for row in work.all(union_all(by_name, by_host) if hosts else by_name):
        (of_names if row.is_name else of_hosts)[row.key] = version_tag(row.tenant_id, row.version)
    return of_names, of_hosts


def application(work: UnitOfWork, *, client_id: str | None = None, name: str | None = None) -> Application | None:
    """Return the tenant's application by client id or case-insensitive name."""
    where = (
        applications.c.client_id == client_id if client_id is not None else applications.c.name == (name or "").lower()
    )
    return _application(work.one(select(applications).where(applications.c.tenant_id == work.tenant_id, where)))


def origins(work: UnitOfWork) -> frozenset[str]:
    """Return the origins of the active applications that the tenant configured, in the form that browsers send."""
    where = (applications.c.tenant_id == work.tenant_id, applications.c.registered_by.is_(None))
    rows = work.all(select(applications.c.settings).where(*where))
    found = (ApplicationSettings.model_validate(row.settings) for row in rows)
    return frozenset().union(*(origins_of(settings) for settings in found if settings.is_active))


def origins_of(settings: ApplicationSettings) -> frozenset[str]:
    """Return the origins of an application's pages: those of its redirect URIs, with exactly their ports, and its `cors_origins`.

    None where it has no `cors`.
    """
    if not settings.cors:
        return frozenset()
    return frozenset(map(origin_of, (*settings.redirect_uris, *settings.cors_origins))) - {""}


def has_registered_themselves(work: UnitOfWork) -> bool:
    """Return whether the tenant has any application that registered itself."""
    where = (applications.c.tenant_id == work.tenant_id, applications.c.registered_by.is_not(None))
    return work.one(select(applications.c.client_id).where(*where).limit(1)) is not None


def _only(work: UnitOfWork, condition: ColumnElement[bool]) -> Tenant | None:
    """Return the active tenant of the condition with its custom domains; None if there is none, or several."""
    rows = work.all(
        select(tenants, H.host)
        .outerjoin(custom_hosts, H.tenant_id == tenants.c.tenant_id)
        .where(condition, tenants.c.is_active)
        .order_by(H.verified_at, H.host)
    )
    if len({row.tenant_id for row in rows}) != 1:
        return None
    return of_row(rows[0], tuple(row.host for row in rows if row.host))


def of_row(row: TenantRow | Row[Any], hosts: tuple[str, ...]) -> Tenant:
    """Return the tenant of a row, with its verified custom domains."""
    return Tenant(
        tenant_id=row.tenant_id,
        name=row.name,
        api_key=row.api_key,
        sealed_api_secret=row.api_secret,
        version=row.version,
        settings=TenantSettings.model_validate(row.settings),
        brand=stored_brand(row.brand),
        sealed_captcha_secret=row.captcha_secret,
        sealed_service_secrets=row.service_secrets,
        custom_hosts=hosts,
    )


def _application(row: Row[Any] | None) -> Application | None:
    if row is None:
        return None
    settings = ApplicationSettings.model_validate(row.settings)
    return Application(
        row.client_id,
        row.secret_hash,
        settings,
        row.former_secret_hash,
        row.former_secret_until,
        sealed_secret=row.sealed_secret,
        former_sealed_secret=row.former_sealed_secret,
        registered_by=row.registered_by,
        registered_under=row.registered_under,
        logo_digest=row.logo_digest,
        expires_at=row.expires_at,
    )
