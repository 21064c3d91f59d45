"""Stores applications that registered themselves (RFC 7591, RFC 7592, client-id metadata documents).

Their changes leave the tenant's version alone: the directory does not cache them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import delete, func, insert, select, update

from app.contract.applications.settings import ApplicationSettings
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tables import application_logos, applications
from app.identity.platform.context import Context
from app.identity.platform.store import removal
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.platform.tenant import Application

A, L = applications.c, application_logos.c
OPEN: Final = "open"
TOKEN: Final = "token"  # an initial access token
DOCUMENT: Final = "document"  # a client-id metadata document
_TOUCH_INTERVAL: Final = timedelta(days=1)


@dataclass(frozen=True)
class RegisteredApplication:
    """A stored registration."""

    client_id: str
    settings: ApplicationSettings
    secret_hash: str | None
    registered_by: str
    token_hash: str | None
    created_at: datetime
    refreshed_at: datetime | None
    sealed_secret: bytes | None = None
    logo_digest: str | None = None


@dataclass(frozen=True)
class Logo:
    """A copy of an application's logo."""

    media_type: str
    content: bytes
    digest: str


def find(work: UnitOfWork, client_id: str, *, locks: bool = False) -> RegisteredApplication | None:
    """Return an application that registered itself, locked where it is about to change."""
    found = select(applications).where(*_where(work, client_id), A.registered_by.is_not(None))
    row = work.one(found.with_for_update() if locks else found)
    if row is None:
        return None
    settings = ApplicationSettings.model_validate(row.settings)
    stored = (row.registration_token_hash, row.created_at, row.refreshed_at)
    return RegisteredApplication(
        row.client_id, settings, row.secret_hash, row.registered_by, *stored, row.sealed_secret, row.logo_digest
    )


def count(work: UnitOfWork, *, network: str | None = None) -> int:
    """Return how many applications registered themselves, in all or from one network."""
    where = [A.tenant_id == work.tenant_id, A.registered_by.is_not(None)]
    where += [A.registered_from == network] if network is not None else []
    return int(work.run(select(func.count()).select_from(applications).where(*where)).scalar_one())


def mark(work: UnitOfWork, client_id: str, **values: Any) -> None:
    """Set columns of the registration: who registered it, its token, when it expires."""
    work.run(update(applications).where(*_where(work, client_id)).values(**values))


def add(
    work: UnitOfWork,
    client_id: str,
    settings: ApplicationSettings,
    now: datetime,
    **columns: Any,
) -> None:
    """Add an application with its marks and the columns of its secret. Raises IntegrityError if its id or name is taken."""
    tenant_writes.add_application(work, client_id, settings, now, **columns)


def replace(
    work: UnitOfWork,
    registration: RegisteredApplication,
    settings: ApplicationSettings,
    *,
    secret: Mapping[str, Any],
    token_hash: str,
) -> bool:
    """Replace settings, token and the columns of the secret that change. Return whether the token was still the one of `registration`."""
    values = {**secret, "registration_token_hash": token_hash}
    where = (*_where(work, registration.client_id), A.registration_token_hash == registration.token_hash)
    stored = tenant_writes.stored_settings(settings)
    return work.run(update(applications).where(*where).values(**values, settings=stored)).rowcount == 1


def remove(work: UnitOfWork, client_id: str) -> None:
    """Delete an application with its tokens, codes, consents and logo."""
    removal.delete_client_rows(work, [client_id])


def touch(context: Context, client: Application) -> None:
    """Remember that an application that registered itself is used, once a day."""
    if client.expires_at is None:
        return
    expires_at = context.now + timedelta(days=context.tenant.settings.client_registration.unused_days)
    if expires_at - client.expires_at >= _TOUCH_INTERVAL or expires_at < client.expires_at:
        mark(context.work, client.client_id, expires_at=expires_at)


def logo(work: UnitOfWork, digest: str) -> Logo | None:
    """Return the copy of a logo with this digest."""
    is_of = (L.tenant_id == A.tenant_id, L.client_id == A.client_id)
    columns = select(L.media_type, L.content).where(A.tenant_id == work.tenant_id, A.logo_digest == digest, *is_of)
    row = work.one(columns.limit(1))
    return Logo(row.media_type, row.content, digest) if row is not None else None


def logo_digests(work: UnitOfWork, at_most: int) -> list[str]:
    """Return the digests of the copied logos, or `at_most` of them."""
    is_copied = (A.tenant_id == work.tenant_id, A.logo_digest.is_not(None))
    return [row.logo_digest for row in work.all(select(A.logo_digest).where(*is_copied).limit(at_most))]


def set_logo(work: UnitOfWork, client_id: str, copied: Logo | None) -> None:
    """Replace the copy of an application's logo; None removes it."""
    work.run(delete(application_logos).where(L.tenant_id == work.tenant_id, L.client_id == client_id))
    if copied is not None:
        row = {"tenant_id": work.tenant_id, "client_id": client_id, "media_type": copied.media_type}
        work.run(insert(application_logos).values(**row, content=copied.content))
    mark(work, client_id, logo_digest=copied.digest if copied is not None else None)


def _where(work: UnitOfWork, client_id: str) -> tuple[Any, ...]:
    return A.tenant_id == work.tenant_id, A.client_id == client_id
