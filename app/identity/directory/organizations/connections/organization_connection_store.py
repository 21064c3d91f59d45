"""Queries of the connections of organizations and of their group roles, always within the tenant and the organization."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from pydantic_core import from_json, to_json
from sqlalchemy import ColumnElement, bindparam, delete, insert, select, update
from sqlalchemy.engine import Row
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql import Select

from app.contract import errors
from app.identity.directory.organizations import organization_names, organization_store
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.tables import (
    organization_connections,
    organization_domains,
    organization_group_roles,
    organizations,
)
from app.identity.platform.context import Context
from app.identity.platform.store.compiled_statements import TENANT, Compiled
from app.identity.platform.store.encrypted_columns import encrypted_columns
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness

_ADDRESS_LENGTH: Final = 34


@dataclass(frozen=True)
class OrganizationConnectionRecord:
    """A connection to the identity provider of an organization."""

    connection_id: str
    org_id: str
    name: str
    domain: str | None
    kind: str
    address_key: str  # the opaque part of its addresses
    is_active: bool
    content: dict[str, Any]  # by the names of the interface's fields in Python
    sealed: bytes | None
    created_at: datetime
    modified_at: datetime
    organization: OrganizationRecord | None = field(default=None, compare=False)  # where `signing_in` read it

    @property
    def title(self) -> str:
        """The display name of its organization, where that was read."""
        return self.organization.display_name if self.organization is not None else ""

    @property
    def public_title(self) -> str:
        """The title for visitors who may not be members of its organization."""
        return (self.organization.public_name if self.organization is not None else "") or self.name

    @property
    def is_saml(self) -> bool:
        return self.kind.startswith("saml_")


@dataclass(frozen=True)
class GroupRoleRecord:
    """A role for the members of a group at the identity provider."""

    group_role_id: str
    org_id: str
    connection_id: str
    group_id: str
    name: str
    role_id: str


C, G = organization_connections.c, organization_group_roles.c
_COLUMNS = tuple(C[name] for name in OrganizationConnectionRecord.__dataclass_fields__ if name != "organization")
_OF_ORGANIZATION = tuple(column.label(f"organization_{column.key}") for column in organization_store.COLUMNS)
_GROUP = tuple(G[name] for name in GroupRoleRecord.__dataclass_fields__)


def _signing_in() -> Select[Any]:
    """Build the statement of the active connections of active organizations, each with its organization."""
    o = organizations.c
    joined = organization_connections.join(organizations, (o.tenant_id == TENANT) & (o.org_id == C.org_id))
    columns = (*_COLUMNS, *_OF_ORGANIZATION)
    return select(*columns).select_from(joined).where(C.tenant_id == TENANT, C.is_active, o.is_active)


_SIGNING_IN = _signing_in()
_SIGNING_IN_BY_ID = Compiled(_SIGNING_IN.where(C.connection_id == bindparam("named")))
_SIGNING_IN_AT = Compiled(_SIGNING_IN.where(C.address_key == bindparam("named")))


def of_organizations(context: Context, org_ids: Collection[str]) -> dict[str, list[OrganizationConnectionRecord]]:
    """Return the connections of these organizations, the oldest first, in one statement."""
    by_id: dict[str, list[OrganizationConnectionRecord]] = {org_id: [] for org_id in org_ids}
    ordered = (
        select(*_COLUMNS)
        .where(*_in_organization(context), C.org_id.in_(org_ids))
        .order_by(C.created_at, C.connection_id)
    )
    for row in context.work.all(ordered):
        by_id[row.org_id].append(_connection(row))
    return by_id


def by_id(context: Context, org_id: str, connection_id: str) -> OrganizationConnectionRecord | None:
    where = (*_in_organization(context), C.org_id == org_id, C.connection_id == connection_id)
    row = context.work.one(select(*_COLUMNS).where(*where))
    return _connection(row) if row is not None else None


def by_any_id(context: Context, connection_id: str) -> OrganizationConnectionRecord | None:
    """Return a connection of any organization of the tenant, active or not."""
    row = context.work.one(select(*_COLUMNS).where(*_in_organization(context), C.connection_id == connection_id))
    return _connection(row) if row is not None else None


def by_address(context: Context, address_key: str) -> OrganizationConnectionRecord | None:
    """Return the connection with this opaque part of its addresses, active or not."""
    row = context.work.one(select(*_COLUMNS).where(*_in_organization(context), C.address_key == address_key))
    return _connection(row) if row is not None else None


def signing_in(
    context: Context, where: ColumnElement[bool], *, verified_domain: str | None = None
) -> list[OrganizationConnectionRecord]:
    """Return the active connections of active organizations that satisfy a condition, the oldest first.

    `verified_domain`: only those of the organization that has verified it.
    """
    found, d = _SIGNING_IN.where(where), organization_domains.c
    if verified_domain is not None:
        of_organization = (d.tenant_id == C.tenant_id) & (d.org_id == C.org_id)
        found = found.join(organization_domains, of_organization & (d.verified_domain == verified_domain))
    ordered = found.order_by(C.created_at, C.connection_id)
    return [_with_organization(row) for row in context.work.all(ordered, {"tenant": context.tenant.tenant_id})]


def signing_in_by_id(context: Context, connection_id: str) -> OrganizationConnectionRecord | None:
    """Return the active connection with this id, of an active organization."""
    row = context.work.one(_SIGNING_IN_BY_ID, {"tenant": context.tenant.tenant_id, "named": connection_id})
    return _with_organization(row) if row is not None else None


def signing_in_at(context: Context, address_key: str) -> OrganizationConnectionRecord | None:
    """Return the active connection with this opaque part of its addresses, of an active organization."""
    row = context.work.one(_SIGNING_IN_AT, {"tenant": context.tenant.tenant_id, "named": address_key})
    return _with_organization(row) if row is not None else None


def has_name(context: Context, org_id: str, name: str, *, other_than: str = "") -> bool:
    """Return whether another connection of the organization has the name."""
    where = (*_in_organization(context), C.org_id == org_id, C.name_key == name.lower(), C.connection_id != other_than)
    return context.work.one(select(C.connection_id).where(*where)) is not None


def new_address_key() -> str:
    """Return the opaque part of the addresses of a new connection."""
    return randomness.alphanumeric(_ADDRESS_LENGTH)


def add(
    context: Context, org_id: str, values: Mapping[str, Any], secrets: Mapping[str, str], *, address_key: str = ""
) -> OrganizationConnectionRecord:
    """Add an active connection. Raises OrganizationConnectionTaken, DomainOfOtherConnection.

    Args:
        address_key: the opaque part of its addresses, by default a new one.
    """
    connection_id = organization_names.mint(organization_names.CONNECTION)
    row = {
        **values,
        "tenant_id": context.tenant.tenant_id,
        "connection_id": connection_id,
        "org_id": org_id,
        "name_key": values["name"].lower(),
        "address_key": address_key or new_address_key(),
        "is_active": True,
        "sealed": _seal(context, connection_id, secrets),
        "created_at": context.now,
        "modified_at": context.now,
    }
    try:
        return _connection(context.work.run(insert(organization_connections).values(row).returning(*_COLUMNS)).one())
    except IntegrityError as taken:
        raise _taken(taken) from None


def change(
    context: Context, connection: OrganizationConnectionRecord, values: Mapping[str, Any], secrets: Mapping[str, str]
) -> OrganizationConnectionRecord:
    """Change a connection. Raises OrganizationConnectionTaken, DomainOfOtherConnection, UnknownOrganizationConnection."""
    row = {
        **values,
        "name_key": values["name"].lower(),
        "sealed": _seal(context, connection.connection_id, secrets),
        "modified_at": context.now,
    }
    where = (*_in_organization(context), C.connection_id == connection.connection_id)
    try:
        changed = context.work.one(update(organization_connections).where(*where).values(row).returning(*_COLUMNS))
    except IntegrityError as taken:
        raise _taken(taken) from None
    if changed is None:
        raise errors.UnknownOrganizationConnection
    return _connection(changed)


def set_active(context: Context, connection_id: str, is_active: bool) -> bool:
    """Activate or deactivate a connection. Return whether that changed it."""
    where = (*_in_organization(context), C.connection_id == connection_id, C.is_active != is_active)
    values = {"is_active": is_active, "modified_at": context.now}
    return context.work.changed(update(organization_connections).where(*where).values(values)) > 0


def ids_with_due_metadata(work: UnitOfWork, now: datetime, limit: int) -> list[str]:
    """Return the active connections whose metadata is due, the longest first."""
    where = (C.tenant_id == work.tenant_id, C.metadata_due_at <= now, C.is_active)
    found = select(C.connection_id).where(*where).order_by(C.metadata_due_at).limit(limit)
    return [row.connection_id for row in work.all(found)]


def saml_contents(work: UnitOfWork) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the id, the organization and the content of each SAML connection of the tenant; nothing is decrypted."""
    where = (C.tenant_id == work.tenant_id, C.kind.startswith("saml_", autoescape=True))
    rows = work.all(select(C.connection_id, C.org_id, C.content).where(*where))
    return [(row.connection_id, row.org_id, row.content) for row in rows]


def claim_metadata(context: Context, connection_id: str, next_due_at: datetime) -> OrganizationConnectionRecord | None:
    """Return a connection whose metadata is due, for one of several workers, and postpone it."""
    where = (
        *_in_organization(context),
        C.connection_id == connection_id,
        C.metadata_due_at <= context.now,
        C.is_active,
    )
    claimed = update(organization_connections).where(*where).values(metadata_due_at=next_due_at)
    row = context.work.one(claimed.returning(*_COLUMNS))
    return _connection(row) if row is not None else None


def postpone_metadata(context: Context, connection_id: str, due_at: datetime) -> None:
    """Let the metadata of a connection be read at another time, unless it has none any more."""
    where = (*_in_organization(context), C.connection_id == connection_id, C.metadata_due_at.is_not(None))
    context.work.run(update(organization_connections).where(*where).values(metadata_due_at=due_at))


def change_content(context: Context, read: OrganizationConnectionRecord, content: Mapping[str, Any]) -> bool:
    """Change what a connection has, unless another request changed it since it was read. Return whether it was changed."""
    where = (
        *_in_organization(context), C.connection_id == read.connection_id, C.modified_at == read.modified_at, C.is_active,
    )  # fmt: skip
    values = {"content": dict(content), "modified_at": context.now}
    return context.work.changed(update(organization_connections).where(*where).values(values)) > 0


def change_keys(
    context: Context, read: OrganizationConnectionRecord, content: Mapping[str, Any], secrets: Mapping[str, str]
) -> OrganizationConnectionRecord | None:
    """Change the keys of a connection, active or not. Return None if it was changed or deleted since it was read."""
    where = (*_in_organization(context), C.connection_id == read.connection_id, C.modified_at == read.modified_at)
    values = {
        "content": dict(content),
        "sealed": _seal(context, read.connection_id, secrets),
        "modified_at": context.now,
    }
    row = context.work.one(update(organization_connections).where(*where).values(values).returning(*_COLUMNS))
    return _connection(row) if row is not None else None


def remove(context: Context, connection: OrganizationConnectionRecord) -> None:
    """Delete a connection with its group roles."""
    for table in (organization_connections, organization_group_roles):
        where = (table.c.tenant_id == context.tenant.tenant_id, table.c.connection_id == connection.connection_id)
        context.work.run(delete(table).where(*where))


def secrets_of(context: Context, connection: OrganizationConnectionRecord) -> dict[str, str]:
    """Return the decrypted secrets: `client_secret`, or the private keys of `sp_keys`."""
    if connection.sealed is None:
        return {}
    named = _binding(context.tenant.tenant_id, connection.connection_id)
    secrets: dict[str, str] = from_json(context.services.encryption.decrypt(connection.sealed, named))
    return secrets


def group_roles(context: Context, connection_ids: Collection[str]) -> dict[str, list[GroupRoleRecord]]:
    """Return the group roles of these connections, by name, in one statement."""
    by_id: dict[str, list[GroupRoleRecord]] = {connection_id: [] for connection_id in connection_ids}
    where = (G.tenant_id == context.tenant.tenant_id, G.connection_id.in_(connection_ids))
    for row in context.work.all(select(*_GROUP).where(*where).order_by(G.name_key)):
        by_id[row.connection_id].append(GroupRoleRecord(**row._mapping))
    return by_id


def group_role(context: Context, connection_id: str, group_role_id: str) -> GroupRoleRecord | None:
    row = context.work.one(select(*_GROUP).where(*_group(context, connection_id, group_role_id)))
    return GroupRoleRecord(**row._mapping) if row is not None else None


def add_group_role(
    context: Context, connection: OrganizationConnectionRecord, values: Mapping[str, str]
) -> GroupRoleRecord:
    """Add a group role. Raises GroupRoleNameTaken, GroupTaken."""
    row = {
        **values,
        "tenant_id": context.tenant.tenant_id,
        "group_role_id": organization_names.mint(organization_names.GROUP_ROLE),
        "org_id": connection.org_id,
        "connection_id": connection.connection_id,
        "name_key": organization_names.key_of(values["name"]),
        "created_at": context.now,
    }
    try:
        added = context.work.run(insert(organization_group_roles).values(row).returning(*_GROUP)).one()
    except IntegrityError as taken:
        raise _group_taken(taken) from None
    return GroupRoleRecord(**added._mapping)


def change_group_role(context: Context, stored: GroupRoleRecord, values: Mapping[str, str]) -> GroupRoleRecord | None:
    """Change a group role. Raises GroupRoleNameTaken, GroupTaken."""
    row = {**values, "name_key": organization_names.key_of(values["name"])}
    where = _group(context, stored.connection_id, stored.group_role_id)
    try:
        changed = context.work.one(update(organization_group_roles).where(*where).values(row).returning(*_GROUP))
    except IntegrityError as taken:
        raise _group_taken(taken) from None
    return GroupRoleRecord(**changed._mapping) if changed is not None else None


def remove_group_role(context: Context, stored: GroupRoleRecord) -> bool:
    """Delete a group role. Return whether it existed."""
    where = _group(context, stored.connection_id, stored.group_role_id)
    return context.work.changed(delete(organization_group_roles).where(*where)) > 0


def _seal(context: Context, connection_id: str, secrets: Mapping[str, str]) -> bytes | None:
    named = _binding(context.tenant.tenant_id, connection_id)
    return context.services.encryption.encrypt(to_json(dict(secrets)), named) if secrets else None


def _binding(tenant_id: str, connection_id: str) -> str:
    """Return the associated data of the encrypted secrets, which binds them to their row."""
    return f"{tenant_id} organization connection {connection_id}"


def _taken(taken: IntegrityError) -> errors.OrganizationConnectionTaken | errors.DomainOfOtherConnection:
    is_domain = "_domain" in str(taken.orig) or "organization_connections.domain" in str(taken.orig)
    return errors.DomainOfOtherConnection() if is_domain else errors.OrganizationConnectionTaken()


def _group_taken(taken: IntegrityError) -> errors.GroupRoleNameTaken | errors.GroupTaken:
    is_group = "_group_roles_group" in str(taken.orig) or "organization_group_roles.group_id" in str(taken.orig)
    return errors.GroupTaken() if is_group else errors.GroupRoleNameTaken()


def _group(context: Context, connection_id: str, group_role_id: str) -> tuple[ColumnElement[bool], ...]:
    return (
        G.tenant_id == context.tenant.tenant_id,
        G.connection_id == connection_id,
        G.group_role_id == group_role_id,
    )


def _with_organization(row: Row[Any]) -> OrganizationConnectionRecord:
    at = len(_COLUMNS)
    return replace(OrganizationConnectionRecord(*row[:at]), organization=OrganizationRecord(*row[at:]))


def _connection(row: Row[Any]) -> OrganizationConnectionRecord:
    return OrganizationConnectionRecord(**row._mapping)


def _in_organization(context: Context) -> tuple[ColumnElement[bool], ...]:
    return (C.tenant_id == context.tenant.tenant_id,)


ENCRYPTED_COLUMNS = encrypted_columns(
    organization_connections, "sealed", associated_data=lambda row: _binding(row["tenant_id"], row["connection_id"])
)
