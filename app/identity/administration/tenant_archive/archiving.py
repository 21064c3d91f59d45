"""Writes everything of a tenant into an archive, as it was at one instant, while people sign in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final

from sqlalchemy import Table, create_engine, select, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from app.identity.administration.tenant_archive import archive_file
from app.identity.administration.tenant_archive.archive_file import ArchiveKey
from app.identity.administration.tenant_archive.archive_records import ArchivedContents, line, to_record
from app.identity.administration.tenant_archive.archived_tables import archived_tables
from app.identity.directory.tenants.tenant_writes import TenantRow
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.database import StoreUnavailable
from app.identity.platform.store.schema_state import read_schema_state
from app.kit.clock import iso
from app.kit.settings.database_url import own_parameters

_PAGE: Final = 500
"""Rows in memory at once."""


@dataclass
class _Archiving:
    services: IdentityServices
    tenant: TenantRow
    contents: ArchivedContents = field(default_factory=ArchivedContents)

    def lines(self, connection: Connection) -> Iterator[bytes]:
        """Yield the archive line by line: what it is, each row after the name of its table, and what was counted."""
        services, tenant = self.services, self.tenant
        yield line(
            {
                "tenant_id": tenant.tenant_id,
                "name": tenant.name,
                "address": services.settings.hub_url(tenant.name),
                "schema": read_schema_state(connection).revision,
                "archived_at": iso(services.clock.now()),
            }
        )
        for table in archived_tables():
            for row in _rows(connection, table, tenant.tenant_id):
                record = to_record(table, row, services.encryption.decrypt)
                self.contents.add(table.name, record)
                yield line({table.name: record})
        yield line({"end": self.contents.to_json()})


def write(services: IdentityServices, tenant: TenantRow, file: BinaryIO, key: ArchiveKey) -> ArchivedContents:
    """Write the archive of a tenant, and return what was counted.

    Raises:
        DecryptionError: no known secret decrypts a value.
        StoreUnavailable: the database cannot be reached.
        ValueError: a malformed recipient.
    """
    archiving = _Archiving(services, tenant)
    with _snapshot(services.database.url, tenant.tenant_id) as connection:
        archive_file.write(file, archiving.lines(connection), key)
    return archiving.contents


@contextmanager
def _snapshot(url: str, tenant_id: str) -> Iterator[Connection]:
    """Yield a connection that sees one instant of the database, and of it the tenant's rows."""
    engine = create_engine(own_parameters(url)[0], poolclass=NullPool)
    try:
        if engine.dialect.name == "sqlite":
            with engine.connect() as connection:
                connection.exec_driver_sql("BEGIN")  # the driver begins no transaction for a read
                yield connection
            return
        with engine.execution_options(isolation_level="REPEATABLE READ").begin() as connection:
            connection.execute(text("SELECT set_config('gatehouse.tenant', :tenant, true)"), {"tenant": tenant_id})
            yield connection
    except DBAPIError as problem:
        raise StoreUnavailable(f"Couldn't read the tenant: {str(problem.orig).splitlines()[0]}") from problem
    finally:
        engine.dispose()


def _rows(connection: Connection, table: Table, tenant_id: str) -> Iterator[dict[str, Any]]:
    of_tenant = select(table).where(table.c.tenant_id == tenant_id).order_by(*table.primary_key)
    for row in connection.execution_options(yield_per=_PAGE).execute(of_tenant):
        yield row._asdict()
