"""The rules for statements and tables on Citus: each refused shape is found, and what runs there is not."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import (
    Column,
    ForeignKey,
    Identity,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.engine import create_engine
from sqlalchemy.pool import NullPool

from app.identity.assembly import table_modules  # noqa: F401 - declares every table
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.compiled_statements import TENANT
from app.identity.platform.store.distribution import LOCAL_TABLES, REFERENCE_TABLES
from app.identity.platform.store.tables import all_tables
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.database import citus_rules
from tests.support.services.servers import PostgresUrls

TABLES = MetaData()
SESSIONS = Table("sessions", TABLES, Column("tenant_id", String, primary_key=True), Column("uid", String))
ACCOUNTS = Table("accounts", TABLES, Column("tenant_id", String, primary_key=True), Column("uid", String))
ROLES = Table("account_roles", TABLES, Column("tenant_id", String, primary_key=True), Column("uid", String))
TENANTS = Table("tenants", TABLES, Column("tenant_id", String, primary_key=True), Column("name", String))
S, A, R = SESSIONS.c, ACCOUNTS.c, ROLES.c
OF_TENANT = select(SESSIONS).where(S.tenant_id == TENANT)
BESIDE = OF_TENANT.add_columns(A.uid).outerjoin(ACCOUNTS, (A.tenant_id == S.tenant_id) & (A.uid == S.uid))
COUNT = select(func.count()).select_from(ROLES)
CHANGED = update(ACCOUNTS).where(A.tenant_id == TENANT).values(uid="").returning(A.tenant_id, A.uid).cte("changed")
ROW = {"tenant_id": TENANT, "uid": "u"}

REFUSED = {
    "a read of all tenants": (select(SESSIONS), citus_rules.OTHER_TENANTS),
    "a tenant that may be another": (
        select(SESSIONS).where((S.tenant_id == TENANT) | (S.uid == "u")),
        citus_rules.OTHER_TENANTS,
    ),
    "tenants that are listed": (select(SESSIONS).where(S.tenant_id.in_(["acme"])), citus_rules.OTHER_TENANTS),
    "a change of all tenants": (update(SESSIONS).where(S.uid == "u").values(uid="v"), citus_rules.OTHER_TENANTS),
    "a deletion by a list of keys": (delete(SESSIONS).where(S.uid.in_(["u"])), citus_rules.OTHER_TENANTS),
    "a join without the tenant": (OF_TENANT.join(ACCOUNTS, A.uid == S.uid), citus_rules.OTHER_TENANTS),
    "a subquery without the tenant": (
        OF_TENANT.where(exists().where(A.uid == S.uid)),
        citus_rules.OTHER_TENANTS,
        citus_rules.CORRELATED,
    ),
    "a subquery bound by the row": (
        OF_TENANT.where(exists().where(A.tenant_id == S.tenant_id, A.uid == S.uid)),
        citus_rules.OTHER_TENANTS,
        citus_rules.CORRELATED,
    ),
    "a subquery bound by an outer join": (
        BESIDE.add_columns(COUNT.where(R.tenant_id == A.tenant_id).scalar_subquery()),
        citus_rules.OTHER_TENANTS,
        citus_rules.CORRELATED,
    ),
    "a subquery bound by a common table expression": (
        select(CHANGED.c.uid, COUNT.where(R.tenant_id == CHANGED.c.tenant_id).scalar_subquery()),
        citus_rules.OTHER_TENANTS,
        citus_rules.CORRELATED,
    ),
    "a correlated subquery over all tenants": (
        select(S.uid, COUNT.where(R.uid == S.uid).scalar_subquery()),
        citus_rules.OTHER_TENANTS,
        citus_rules.CORRELATED,
    ),
    "an insert from another tenant": (
        insert(ACCOUNTS).from_select(["tenant_id", "uid"], select(S.tenant_id, S.uid)),
        citus_rules.OTHER_TENANTS,
    ),
    "a subquery in RETURNING": (
        update(ACCOUNTS).where(A.tenant_id == TENANT).values(uid="").returning(COUNT.where(R.tenant_id == TENANT).scalar_subquery()),
        citus_rules.RETURNS_SUBQUERY,
    ),
    "a subquery in VALUES": (
        insert(ACCOUNTS).values({**ROW, "uid": select(S.uid).where(S.tenant_id == TENANT).scalar_subquery()}),
        citus_rules.INSERTS_SUBQUERY,
    ),
    "a row that always exists": (
        select(A.uid).select_from(select(literal(1)).subquery("always").outerjoin(ACCOUNTS, A.tenant_id == TENANT)),
        citus_rules.SELECTS_FROM_NOTHING,
    ),
    "a recursive query": (
        (turn := OF_TENANT.cte("turn", recursive=True)).union_all(select(turn)).select(),
        citus_rules.RECURSIVE,
    ),
    "another tenant for a row": (update(SESSIONS).where(S.tenant_id == TENANT).values(tenant_id="globex"), citus_rules.MOVES_TENANT),
}  # fmt: skip
ACCEPTED = {
    "a read of the tenant": OF_TENANT,
    "an outer join by the tenant": BESIDE,
    "an outer join with roles": BESIDE.add_columns(
        COUNT.where(R.tenant_id == TENANT, R.uid == A.uid).scalar_subquery()
    ),
    "a subquery of the tenant": OF_TENANT.where(exists().where(A.tenant_id == TENANT, A.uid == S.uid)),
    "a change that is read with roles": select(CHANGED.c.uid, COUNT.where(R.tenant_id == TENANT).scalar_subquery()),
    "both of two parts": OF_TENANT.union_all(select(ACCOUNTS).where(A.tenant_id == TENANT)),
    "a row": insert(ACCOUNTS).values(ROW),
    "a row with a count": insert(ACCOUNTS).from_select(
        ["tenant_id", "uid"], select(TENANT, func.max(S.uid)).where(S.tenant_id == TENANT)
    ),
    "the tenant itself": select(TENANTS).where(TENANTS.c.name == "acme"),
}


@pytest.mark.parametrize("shape", REFUSED)
def test_refused_shape_is_found(shape: str) -> None:
    statement, *reasons = REFUSED[shape]
    assert citus_rules.check(statement).refused == {*reasons}


@pytest.mark.parametrize("shape", ACCEPTED)
def test_accepted_shape_is_not_refused(shape: str) -> None:
    assert citus_rules.check(ACCEPTED[shape]).refused == set()


def test_statement_of_another_tenant_fails_in_tests(services: IdentityServices) -> None:
    work = UnitOfWork(services.database, "acme")
    table = all_tables()["sessions"]
    with pytest.raises(AssertionError, match="another tenant"):
        _run_as_application(work, select(table.c.uid).where(table.c.tenant_id == "globex"))
    with pytest.raises(AssertionError, match="not bound to the tenant"):
        _run_as_application(work, select(table.c.uid))
    work.rollback()


def _run_as_application(work: UnitOfWork, statement: Any) -> None:
    code: dict[str, Any] = {"__name__": "app.example"}
    exec("def read(work, statement):\n    work.all(statement)", code)
    code["read"](work, statement)


@pytest.mark.parametrize("name", sorted(all_tables()))
def test_table_can_be_distributed(name: str) -> None:
    assert citus_rules.table_faults(all_tables()[name]) == []


@pytest.mark.parametrize(
    "column",
    [
        Column("id", Integer, unique=True),
        Column("id", Integer, Identity()),
        Column("uid", String, ForeignKey(A.uid)),
    ],
    ids=["unique", "generated", "foreign key"],
)
def test_fault_of_a_table_is_found(column: Column[Any]) -> None:
    table = Table("seeded", MetaData(), Column("tenant_id", String, primary_key=True), column)
    assert len(citus_rules.table_faults(table)) == 1


def test_key_without_the_tenant_is_found() -> None:
    table = Table("seeded", MetaData(), Column("uid", String, primary_key=True), UniqueConstraint("uid"))
    assert len(citus_rules.table_faults(table)) == 2


def test_migrations_leave_nothing_that_citus_refuses(copied_postgres: PostgresUrls) -> None:
    engine = create_engine(
        copied_postgres.migrate_url.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool
    )
    with engine.connect() as connection:
        found = [
            str(row[0])
            for row in connection.execute(text(_REFUSED_OBJECTS), {"whole": [*REFERENCE_TABLES, *LOCAL_TABLES]})
        ]
    assert found == []


_REFUSED_OBJECTS = """
    SELECT 'foreign key ' || conname FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace
    UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT 'sequence ' || relname FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace
    UNION ALL SELECT 'unique index ' || i.indexrelid::regclass FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        WHERE c.relnamespace = 'public'::regnamespace AND i.indisunique AND c.relname <> ALL (:whole)
        AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND a.attnum = ANY (i.indkey))
"""
