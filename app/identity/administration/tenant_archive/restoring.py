"""Restores a tenant from its archive, in one transaction: what fails leaves nothing."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from sqlalchemy import Table, insert
from sqlalchemy.exc import IntegrityError

from app.contract.tenants.file import LABEL, RESERVED_TENANTS
from app.identity.administration.tenant_archive import archive_file
from app.identity.administration.tenant_archive.archive_file import ArchiveKey, ArchiveUnreadable
from app.identity.administration.tenant_archive.archive_records import ArchivedContents, to_record, to_row
from app.identity.administration.tenant_archive.archived_tables import archived_tables
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.platform.audit import AuditLog
from app.identity.platform.services import IdentityServices
from app.identity.platform.store import row_pages
from app.identity.platform.store.migrate import HEAD
from app.identity.platform.store.unit_of_work import UnitOfWork

_BATCH: Final = 200
_TENANT_ID: Final = re.compile(r"[0-9a-f]{32}")
"""The form of ids of tenants. Reserved ones of another form read rows of every tenant."""
_HOLDERS: Final = {
    "tenants": "Another tenant here has the archive's API key.",
    "custom_hosts": "Another tenant here has one of the archive's hosts.",
}
"""What a row that is taken means, by its table: the only tables whose keys are shared by all tenants."""


class RestoreRefused(Exception):
    """The archive cannot be restored here; the text says why. Nothing was stored."""


@dataclass(frozen=True)
class RestoredTenant:
    """A restored tenant. `archived_address`: of its pages where it was archived."""

    name: str
    archived_name: str
    archived_address: str
    archived_at: str
    contents: ArchivedContents


@dataclass
class _Restoring:
    """Takes the lines of an archive one after the other."""

    services: IdentityServices
    name: str
    head: dict[str, Any] = field(default_factory=dict)
    work: UnitOfWork | None = None
    contents: ArchivedContents = field(default_factory=ArchivedContents)
    waiting: list[dict[str, Any]] = field(default_factory=list)
    table: Table | None = None
    is_over: bool = False

    def take(self, text: bytes) -> None:
        try:
            record = json.loads(text)
            if not self.head:
                self._begin(record)
            elif "end" in record:
                self._end(record["end"])
            else:
                self._add(record)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
            raise ArchiveUnreadable(f"The archive has a line that this version can't read: {problem}.") from None
        except IntegrityError:
            name = self.table.name if self.table is not None else ""
            raise RestoreRefused(_HOLDERS.get(name, f"A row of {name} is here already.")) from None

    def _begin(self, head: dict[str, Any]) -> None:
        if head["schema"] != HEAD:
            raise RestoreRefused(
                f"The archive has schema {head['schema']}, and this version has {HEAD}. Archive and restore with the same version."
            )
        name = self.name or head["name"]
        if not _TENANT_ID.fullmatch(head["tenant_id"]):
            raise ArchiveUnreadable("The archive's tenant has no id of a tenant.")
        check_name(name)
        lookup = UnitOfWork(self.services.database, LOOKUP_TENANT)
        try:
            for other in tenant_writes.all_tenants(lookup):
                if other.tenant_id == head["tenant_id"]:
                    raise RestoreRefused(f"The archive's tenant is here already, as {other.name}.")
                if other.name == name:
                    raise RestoreRefused(f"There's another tenant {name!r} here. Choose another name with --as.")
        finally:
            lookup.rollback()
        self.head, self.name = head, name
        self.work = UnitOfWork(self.services.database, head["tenant_id"])

    def _add(self, record: dict[str, Any]) -> None:
        ((name, values),) = record.items()
        table = _by_name()[name]
        if table is not self.table or len(self.waiting) >= _BATCH:
            self.store()
        if values["tenant_id"] != self.head["tenant_id"]:
            raise ArchiveUnreadable("The archive has a row of another tenant.")
        self.table = table
        self.contents.add(name, values)
        row = to_row(table, values, self.services.encryption.encrypt)
        self.waiting.append({**row, "name": self.name} if name == "tenants" else row)

    def store(self) -> None:
        if self.waiting and self.table is not None and self.work is not None:
            self.work.run(insert(self.table), self.waiting)
        self.waiting = []

    def _end(self, counted: dict[str, list[Any]]) -> None:
        self.store()
        if self.contents.to_json() != counted:
            raise ArchiveUnreadable("The archive is not complete: its rows differ from what was counted.")
        if self.contents.rows["tenants"] != 1:
            raise ArchiveUnreadable("The archive doesn't have the row of its tenant.")
        self.is_over = True


def check_name(name: str) -> None:
    """Raise RestoreRefused for a name that no tenant can have."""
    if name in RESERVED_TENANTS or not re.fullmatch(LABEL, name):
        raise RestoreRefused(f"{name!r} can't be the name of a tenant: lowercase letters, digits and hyphens.")


def read(services: IdentityServices, file: BinaryIO, key: ArchiveKey, *, name: str = "") -> RestoredTenant:
    """Restore the tenant of an archive, compare what was stored with what was archived, and return it.

    Args:
        name: of the restored tenant; empty for the name in the archive.

    Raises ArchiveUnreadable, RestoreRefused, StoreUnavailable; nothing is stored then.
    """
    restoring = _Restoring(services, name)
    try:
        archive_file.read(file, restoring.take, key)
        if restoring.work is None or not restoring.is_over:
            raise ArchiveUnreadable("The archive has no end.")
        if _stored(restoring.work, services, restoring.head["name"]).digest != restoring.contents.digest:
            raise RestoreRefused("The database returned other rows than were stored.")
        audit = AuditLog(services.clock)
        audit.record("tenant.restored")
        audit.write(restoring.work)
        restoring.work.commit()
    finally:
        if restoring.work is not None:
            restoring.work.rollback()
    head = restoring.head
    return RestoredTenant(restoring.name, head["name"], head["address"], head["archived_at"], restoring.contents)


def _stored(work: UnitOfWork, services: IdentityServices, archived_name: str) -> ArchivedContents:
    """Count what the transaction stored."""
    contents = ArchivedContents()
    for table in archived_tables():
        for row in row_pages.rows_of_tenant(work, table):
            named = {**row, "name": archived_name} if table.name == "tenants" else row
            contents.add(table.name, to_record(table, named, services.encryption.decrypt))
    return contents


def _by_name() -> dict[str, Table]:
    return {table.name: table for table in archived_tables()}
