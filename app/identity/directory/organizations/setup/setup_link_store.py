"""Queries of set-up links, always within the tenant. A token is stored as its hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic_core import from_json, to_json
from sqlalchemy import ColumnElement, func, insert, select, update
from sqlalchemy.engine import Row

from app.identity.directory.organizations import organization_names
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.directory.organizations.tables import organization_setup_links as table
from app.identity.platform.context import Context
from app.identity.platform.store.encrypted_columns import encrypted_columns
from app.kit import randomness

OPEN, REVOKED, COMPLETED = "open", "revoked", "completed"
KEPT_AFTER_END: Final = timedelta(days=30)
"""How long a link is listed after it ended; then its row is deleted, with the draft."""


@dataclass(frozen=True)
class SetupLinkRecord:
    """A link to the set-up guide of one organization."""

    link_id: str
    org_id: str
    status: str
    openings: int
    max_openings: int
    session_hours: int
    joins: bool
    address_key: str
    connection_id: str | None
    draft: dict[str, Any]
    sealed: bytes | None = field(repr=False)
    created_at: datetime
    opened_at: datetime | None
    ends_at: datetime

    @property
    def renews(self) -> bool:
        """Whether the link only adds certificates to a connection; the link of a guide has a connection once it is completed."""
        return self.connection_id is not None and self.status != COMPLETED

    def state(self, now: datetime) -> str:
        """Return the state that the interface and the pages name."""
        if self.status != OPEN:
            return self.status
        if self.ends_at <= now:
            return "expired"
        return "used_up" if self.openings >= self.max_openings else "active"


T = table.c
_COLUMNS = tuple(T[name] for name in SetupLinkRecord.__dataclass_fields__)


def add(
    context: Context,
    org_id: str,
    *,
    lifetime: timedelta,
    session_hours: int,
    max_openings: int,
    joins: bool,
    connection_id: str | None = None,
) -> tuple[SetupLinkRecord, str]:
    """Add a link; return it and its token. With `connection_id` it renews the certificates of that connection."""
    token = randomness.token()
    values = {
        "tenant_id": context.tenant.tenant_id,
        "link_id": organization_names.mint(organization_names.SETUP_LINK),
        "org_id": org_id,
        "token_hash": randomness.digest(token),
        "status": OPEN,
        "openings": 0,
        "max_openings": max_openings,
        "session_hours": session_hours,
        "joins": joins,
        "connection_id": connection_id,
        "address_key": organization_connection_store.new_address_key(),
        "draft": {},
        "created_at": context.now,
        "ends_at": context.now + lifetime,
        "expires_at": context.now + lifetime + KEPT_AFTER_END,
    }
    return _record(context.work.run(insert(table).values(values).returning(*_COLUMNS)).one()), token


def by_id(context: Context, link_id: str, *, org_id: str | None = None) -> SetupLinkRecord | None:
    """Return a link, of this organization if one is named."""
    return _one(context, T.link_id == link_id, *([T.org_id == org_id] if org_id is not None else []))


def by_token(context: Context, token: str) -> SetupLinkRecord | None:
    return _one(context, T.token_hash == randomness.digest(token))


def by_address(context: Context, address_key: str) -> SetupLinkRecord | None:
    """Return the open link whose connection will have this opaque part of its addresses."""
    return _one(context, T.address_key == address_key, T.status == OPEN)


def locked(context: Context, link_id: str) -> SetupLinkRecord | None:
    """Return a link, locked against changes until the commit."""
    context.work.begin()
    where = _of(context, T.link_id == link_id)
    row = context.work.one(select(*_COLUMNS).where(*where).with_for_update())
    return _record(row) if row is not None else None


def page(context: Context, org_id: str, limit: int | None, offset: int) -> list[SetupLinkRecord]:
    """Return the links of an organization, the oldest first."""
    ordered = select(*_COLUMNS).where(*_of(context, T.org_id == org_id)).order_by(T.created_at, T.link_id)
    return [_record(row) for row in context.work.all(ordered.limit(limit).offset(offset))]


def count_active(context: Context, org_id: str) -> int:
    """Return how many links of an organization can still be opened."""
    where = _of(context, T.org_id == org_id, *_active(context))
    row = context.work.one(select(func.count()).select_from(table).where(*where))
    return int(row[0]) if row else 0


def use(context: Context, link: SetupLinkRecord) -> SetupLinkRecord | None:
    """Count one opening; None if another request took the last one, or the link ended."""
    values = {"openings": T.openings + 1, "opened_at": context.now}
    return _change(context, T.link_id == link.link_id, *_active(context), values=values)


def close(context: Context, link: SetupLinkRecord, status: str, **values: Any) -> SetupLinkRecord | None:
    """End an open link; None if it is no longer open."""
    return _change(context, T.link_id == link.link_id, T.status == OPEN, values={"status": status, **values})


def save_draft(
    context: Context, link: SetupLinkRecord, draft: Mapping[str, Any], secrets: Mapping[str, str]
) -> SetupLinkRecord | None:
    """Replace what was entered; None if the link is no longer open. The link must be locked."""
    sealed = context.services.encryption.encrypt(
        to_json(dict(secrets)), _binding(context.tenant.tenant_id, link.link_id)
    )
    values = {"draft": dict(draft), "sealed": sealed if secrets else None}
    return _change(context, T.link_id == link.link_id, T.status == OPEN, values=values)


def secrets_of(context: Context, link: SetupLinkRecord) -> dict[str, str]:
    """Return the decrypted secrets of the draft, by field."""
    if link.sealed is None:
        return {}
    content = context.services.encryption.decrypt(link.sealed, _binding(context.tenant.tenant_id, link.link_id))
    secrets: dict[str, str] = from_json(content)
    return secrets


def _binding(tenant_id: str, link_id: str) -> str:
    """Return the associated data of the encrypted secrets, which binds them to their row."""
    return f"{tenant_id} setup link {link_id}"


def _active(context: Context) -> tuple[ColumnElement[bool], ...]:
    return T.status == OPEN, T.ends_at > context.now, T.openings < T.max_openings


def _change(context: Context, *where: ColumnElement[bool], values: Mapping[str, Any]) -> SetupLinkRecord | None:
    row = context.work.one(update(table).where(*_of(context, *where)).values(**values).returning(*_COLUMNS))
    return _record(row) if row is not None else None


def _one(context: Context, *where: ColumnElement[bool]) -> SetupLinkRecord | None:
    row = context.work.one(select(*_COLUMNS).where(*_of(context, *where)))
    return _record(row) if row is not None else None


def _record(row: Row[Any]) -> SetupLinkRecord:
    return SetupLinkRecord(**row._mapping)


def _of(context: Context, *where: ColumnElement[bool]) -> tuple[ColumnElement[bool], ...]:
    return (T.tenant_id == context.tenant.tenant_id, *where)


ENCRYPTED_COLUMNS = encrypted_columns(
    table, "sealed", associated_data=lambda row: _binding(row["tenant_id"], row["link_id"])
)
