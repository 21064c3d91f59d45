"""What a program reads and creates costs the same, however many items its tenant has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Table, insert, select

from app.identity.directory.tenants import tenant_cache
from app.identity.directory.tenants.tables import applications
from app.identity.platform.resource_storage.resource_store import resources
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.resources.resource import LIST
from tests.support.operations.resources import Manager, at_most, manager, named
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

pytestmark = pytest.mark.both_databases
COLLECTIONS = {"oauth_clients": applications, "jwt_clients": resources, "saml_clients": resources}


class Reads:
    """The statements of requests, and the rows that the database returned for them."""

    def __init__(self) -> None:
        self.statements = self.rows = 0


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reads]:
    reads, run = Reads(), UnitOfWork.run

    def counting(work: UnitOfWork, *arguments: Any) -> Any:
        found = run(work, *arguments)
        reads.statements += 1
        reads.rows += len(found.rows)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(UnitOfWork, "run", counting)
        yield reads


def fill(manage: Manager, table: Table, number: int) -> None:
    """Store copies of the newest item under other names."""
    with UnitOfWork(manage.tenant.services.database, manage.tenant.tenant_id).separate_transaction() as work:
        where = [table.c.tenant_id == manage.tenant.tenant_id]
        if table is resources:
            where.append(table.c.kind == manage.resource.kind)
        row = work.all(select(table).where(*where).order_by(table.c.created_at))[-1]._asdict()
        copies = []
        for at in range(number):
            name = f"copy{at:04}"
            renamed: dict[str, Any] = {"id": name, "unique_key": name, "sealed": None}
            if table is applications:
                renamed = {"client_id": name, "name": name, "settings": {**row["settings"], "name": name}}
            copies.append({**row, **renamed})
        work.run(insert(table), copies)


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_create_and_page_cost_the_same_for_many(
    new_tenant_server: NewTenantServer, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(tenant_cache, "FRESH_SECONDS", 3_600.0)  # what a slow machine rereads is no cost of the request
    manage, table = manager(new_tenant_server, named(kind)), COLLECTIONS[kind]
    answered(manage.create(1))
    with counted(monkeypatch) as few:
        answered(manage.create(2))
    with counted(monkeypatch) as few_listed:
        answered(manage(LIST, page=1, pagesize=5))
    fill(manage, table, 1_000)
    with at_most(manage.resource, 2_000), counted(monkeypatch) as many:
        answered(manage.create(3))
    assert (many.statements, many.rows) <= (few.statements, few.rows)
    assert many.rows < 10
    with counted(monkeypatch) as many_listed:
        page = answered(manage(LIST, page=2, pagesize=5))["Data"]
    assert len(page) == 5
    assert many_listed.statements <= few_listed.statements
    assert many_listed.rows < 10
    assert refused(manage.create(3))
