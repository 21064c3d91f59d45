"""Writes tenants and their applications. Each change increases the tenant's version, which invalidates caches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Text, cast, delete, func, insert, select, update

from app.contract.applications.settings import ApplicationSettings
from app.identity.directory.tenants.tables import applications, tenants
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness

T, A = tenants.c, applications.c


@dataclass(frozen=True)
class TenantRow:
    """A stored tenant, active or not."""

    tenant_id: str
    name: str
    api_key: str
    api_secret: bytes
    version: int
    settings: dict[str, Any]
    brand: dict[str, Any]
    captcha_secret: bytes | None
    is_active: bool
    service_secrets: bytes | None = None
    named_by_file: dict[str, Any] | None = None


@dataclass(frozen=True)
class ApplicationRow:
    """A stored application."""

    client_id: str
    name: str
    secret_hash: str | None
    settings: dict[str, Any]
    created_at: datetime
    registered_by: str | None = None
    sealed_secret: bytes | None = None


def api_secret_associated_data(tenant_id: str) -> str:
    """Return the associated data of an encrypted API secret."""
    return f"{tenant_id} api_secret"


def secret_digest(api_secret: str) -> str:
    """Return the digest that finds a tenant by its API secret (a random GUID, so letter case is folded)."""
    return randomness.digest(api_secret.lower())


def captcha_associated_data(tenant_id: str) -> str:
    """Return the associated data of an encrypted captcha secret."""
    return f"{tenant_id} captcha_secret"


def service_secrets_associated_data(tenant_id: str) -> str:
    """Return the associated data of the encrypted service secrets."""
    return f"{tenant_id} service_secrets"


def all_tenants(work: UnitOfWork) -> Sequence[TenantRow]:
    """Return all tenants by name; needs a unit of work of LOOKUP_TENANT."""
    return [_tenant(row) for row in work.all(select(*_COLUMNS).order_by(T.name))]


def ids_after(work: UnitOfWork, last: str, limit: int) -> Sequence[str]:
    """Return the next tenant ids in order; needs a unit of work of LOOKUP_TENANT."""
    return [
        row.tenant_id
        for row in work.all(select(T.tenant_id).where(T.tenant_id > last).order_by(T.tenant_id).limit(limit))
    ]


def by_name(work: UnitOfWork, name: str) -> TenantRow | None:
    """Return the tenant with this name, active or not."""
    row = work.one(select(*_COLUMNS).where(T.name == name))
    return _tenant(row) if row else None


def lock(work: UnitOfWork) -> TenantRow | None:
    """Lock and return the unit of work's tenant, so that concurrent changes are serialized."""
    row = work.one(select(*_COLUMNS).where(T.tenant_id == work.tenant_id).with_for_update())
    return _tenant(row) if row else None


def own(work: UnitOfWork) -> TenantRow | None:
    """Return the tenant whose unit of work this is."""
    row = work.one(select(*_COLUMNS).where(T.tenant_id == work.tenant_id))
    return _tenant(row) if row else None


def tenant_with_key(work: UnitOfWork, api_key: str) -> str | None:
    """Return the name of the tenant with this API key."""
    row = work.one(select(T.name).where(T.api_key == api_key.lower()))
    return str(row[0]) if row else None


def add(
    work: UnitOfWork,
    name: str,
    *,
    api_key: str,
    api_secret: bytes,
    api_secret_hash: str | None = None,
    settings: dict[str, Any],
    brand: dict[str, Any],
    captcha_secret: bytes | None = None,
    service_secrets: bytes | None = None,
    now: datetime,
) -> None:
    """Add the tenant with the unit of work's tenant id. Raises IntegrityError if name or key is taken."""
    row = {
        "tenant_id": work.tenant_id,
        "name": name,
        "api_key": api_key.lower(),
        "api_secret": api_secret,
        "api_secret_hash": api_secret_hash,
        "captcha_secret": captcha_secret,
        "service_secrets": service_secrets,
        "version": 1,
    }
    work.run(insert(tenants).values(**row, settings=settings, brand=brand, is_active=True, created_at=now))


def change(work: UnitOfWork, **values: Any) -> None:
    """Update columns of the tenant and increase its version."""
    work.run(update(tenants).where(T.tenant_id == work.tenant_id).values(**values, version=T.version + 1))


def set_next_theme_at(work: UnitOfWork, at: datetime | None) -> None:
    """Store when a version of a theme is to be published next, or None; the tenant's version does not change."""
    is_other = T.next_theme_at.is_distinct_from(at)
    work.run(update(tenants).where(T.tenant_id == work.tenant_id, is_other).values(next_theme_at=at))


def ids_with_due_theme(work: UnitOfWork, now: datetime, limit: int) -> Sequence[str]:
    """Return the tenants whose next version of a theme is due, the longest first; needs a unit of work of LOOKUP_TENANT."""
    due = select(T.tenant_id).where(T.next_theme_at <= now).order_by(T.next_theme_at).limit(limit)
    return [row.tenant_id for row in work.all(due)]


def set_named_by_file(work: UnitOfWork, named: dict[str, Any]) -> None:
    """Store which keys a configuration file named; the version does not change."""
    work.run(update(tenants).where(T.tenant_id == work.tenant_id).values(named_by_file=named))


def remove(work: UnitOfWork) -> None:
    """Delete the row of the tenant."""
    work.run(delete(tenants).where(T.tenant_id == work.tenant_id))


def applications_of(work: UnitOfWork, *, offset: int = 0, limit: int | None = None) -> Sequence[ApplicationRow]:
    """Return the tenant's applications by name, those that registered themselves included."""
    of_tenant = _APPLICATIONS.where(A.tenant_id == work.tenant_id).order_by(A.name)
    return [_application(row) for row in work.all(of_tenant.offset(offset or None).limit(limit))]


def count_applications(work: UnitOfWork) -> int:
    """Return the number of the tenant's applications, those that registered themselves included."""
    return int(
        work.run(select(func.count()).select_from(applications).where(A.tenant_id == work.tenant_id)).scalar_one()
    )


def configured_applications(work: UnitOfWork) -> Sequence[ApplicationRow]:
    """Return the applications that the tenant configured, by name."""
    return [application for application in applications_of(work) if application.registered_by is None]


def is_named(work: UnitOfWork, client_id: str) -> bool:
    """Return whether another application names this one: as an actor for its users, or as an audience of its tokens."""
    mentions = cast(A.settings, Text).contains(json.dumps(client_id), autoescape=True)  # the lists are read below
    rows = work.all(select(A.settings).where(A.tenant_id == work.tenant_id, A.client_id != client_id, mentions))
    names = ("may_act", "exchange_audiences", "resources")
    return any(client_id in row.settings.get(name, ()) for row in rows for name in names)


def application_with_workflow(work: UnitOfWork, name: str) -> str | None:
    """Return the name of an application whose sign-ins can follow this workflow, or None."""
    mentions = cast(A.settings, Text).contains(json.dumps(name, ensure_ascii=False), autoescape=True)
    rows = work.all(select(A.settings).where(A.tenant_id == work.tenant_id, mentions).order_by(A.name))
    return next((str(row.settings["name"]) for row in rows if name in row.settings.get("workflows", ())), None)


def application_named(work: UnitOfWork, name: str) -> ApplicationRow | None:
    """Return the application with this name, in any letter case."""
    row = work.one(_APPLICATIONS.where(A.tenant_id == work.tenant_id, A.name == name.lower()))
    return _application(row) if row is not None else None


def add_application(
    work: UnitOfWork, client_id: str, settings: ApplicationSettings, now: datetime, **secret: Any
) -> None:
    """Add an application with the columns of its `secret` (client_secrets.py). Raises IntegrityError if its id or name is taken."""
    row = {"tenant_id": work.tenant_id, "client_id": client_id, "created_at": now, **secret}
    work.run(insert(applications).values(**row, name=settings.name.lower(), settings=stored_settings(settings)))


def change_application(work: UnitOfWork, client_id: str, settings: ApplicationSettings, **values: Any) -> None:
    """Replace an application's settings. Raises IntegrityError if its new name is taken."""
    where = (A.tenant_id == work.tenant_id, A.client_id == client_id)
    work.run(
        update(applications)
        .where(*where)
        .values(**values, name=settings.name.lower(), settings=stored_settings(settings))
    )


def remove_application(work: UnitOfWork, client_id: str) -> None:
    """Delete an application; its tokens become invalid, because every use looks the client up."""
    work.run(delete(applications).where(A.tenant_id == work.tenant_id, A.client_id == client_id))


def stored_settings(settings: ApplicationSettings) -> dict[str, Any]:
    """Return the settings to store: only those that were set."""
    return settings.model_dump(mode="json", exclude_unset=True)


_COLUMNS = (
    T.tenant_id, T.name, T.api_key, T.api_secret, T.version, T.settings, T.brand, T.captcha_secret, T.is_active,
    T.service_secrets, T.named_by_file,
)  # fmt: skip


_APPLICATIONS = select(A.client_id, A.name, A.secret_hash, A.settings, A.created_at, A.registered_by, A.sealed_secret)


def _application(row: Any) -> ApplicationRow:
    known = (row.client_id, row.name, row.secret_hash, dict(row.settings), row.created_at, row.registered_by)
    return ApplicationRow(*known, row.sealed_secret)


def _tenant(row: Any) -> TenantRow:
    parts = (row.tenant_id, row.name, row.api_key, row.api_secret, row.version, dict(row.settings), dict(row.brand))
    sealed = {"captcha_secret": row.captcha_secret, "service_secrets": row.service_secrets}
    return TenantRow(*parts, is_active=row.is_active, **sealed, named_by_file=row.named_by_file)
