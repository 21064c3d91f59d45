"""Lists of accounts search a bounded part of an index, whatever is filtered and sorted."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import event, text

from app.contract.accounts.account_list_operations import ListAccounts
from app.identity.directory.account_search.account_conditions import conditions
from app.identity.directory.account_search.account_order import TIMES, order_of
from app.identity.directory.account_search.account_search import AccountSearch, Position
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.api.platform.test_outbox_plans import traced
from tests.support.services.identity_service import over_psycopg
from tests.support.services.servers import PostgresUrls

EARLY, LATE = "2000-01-01T00:00:00Z", "2100-01-01T00:00:00Z"
FILTERS: dict[str, Any] = {
    "text": "ada", "created_from": LATE, "created_to": EARLY, "last_login_from": LATE, "last_login_to": EARLY, "provider": "google",
    "role": "staff", "organization": "org_1", "verified": True, "blocked": True,
}  # fmt: skip
"""Few accounts meet each."""
MANY: dict[str, Any] = {
    "created_from": EARLY, "created_to": LATE, "last_login_from": EARLY, "last_login_to": LATE, "verified": False, "blocked": False,
}  # fmt: skip
"""Most accounts meet each."""
SORTS = {
    "created": ("account_search", "created"), "last_login": ("accounts", "last_login"), "email": ("account_search", "email"),
    "name": ("account_search", "name"),
}  # fmt: skip
TABLES = ("accounts", "account_search", "account_roles", "identifiers", "organization_user_roles")
OF_ONE_ACCOUNT = {
    "accounts: sqlite_autoindex_accounts_1 (tenant_id=? AND uid=?)",
    "account_search: sqlite_autoindex_account_search_1 (tenant_id=? AND uid=?)",
    "account_roles: sqlite_autoindex_account_roles_1 (tenant_id=? AND uid=? AND context=? AND role=?)",
    "identifiers: ix_identifiers_uid (tenant_id=? AND uid=?)",
    "organization_user_roles: ix_organization_user_roles_members (tenant_id=? AND org_id=? AND uid=?)",
    "accounts: ix_accounts_blocked (tenant_id=? AND uid=?)",
    "account_search: ix_account_search_verified (tenant_id=? AND is_verified=? AND uid=?)",
    "account_roles: ix_account_roles_accounts (tenant_id=? AND role=? AND context=? AND uid=?)",
}
OF_CONDITIONS = {
    "accounts: ix_accounts_blocked (tenant_id=?)",
    "accounts: ix_accounts_last_login (tenant_id=? AND last_login_key<?)",
    "accounts: ix_accounts_last_login (tenant_id=? AND last_login_key>? AND last_login_key<?)",
    "accounts: ix_accounts_last_login (tenant_id=? AND last_login_key>?)",
    "account_search: ix_account_search_created (tenant_id=? AND created_at<?)",
    "account_search: ix_account_search_created (tenant_id=? AND created_at>? AND created_at<?)",
    "account_search: ix_account_search_created (tenant_id=? AND created_at>?)",
    "account_search: ix_account_search_last_name (tenant_id=? AND last_name_key>? AND last_name_key<?)",
    "account_search: ix_account_search_name (tenant_id=? AND name_key>? AND name_key<?)",
    "account_search: ix_account_search_verified (tenant_id=? AND is_verified=?)",
    "account_roles: ix_account_roles_accounts (tenant_id=? AND role=? AND context=?)",
    "identifiers: sqlite_autoindex_identifiers_1 (tenant_id=? AND kind=? AND value>? AND value<?)",
    "organization_user_roles: ix_organization_user_roles_members (tenant_id=? AND org_id=?)",
}
"""Searches up to `FEW` rows; the queries have a limit."""


def search(database: Database, sort: str, filters: Mapping[str, Any] = FILTERS) -> None:
    """List the first and a later page: without a filter, with each of these, and with all."""
    key = FixedClock().now() if sort in TIMES else "ada"
    for stated_filters in ({}, *({name: filters[name]} for name in filters), filters):
        request = ListAccounts.model_validate({"sort": sort, **stated_filters})
        for after in (None, Position(key, "0")):
            work = UnitOfWork(database, "acme")
            stated = conditions(request, "acme", is_sqlite=database.is_sqlite)
            order = order_of(sort, is_sqlite=database.is_sqlite)
            for is_descending in (True, False):
                AccountSearch(work, database.is_sqlite, order, is_descending, stated).page(after, 50)
            work.rollback()


def steps(database: Database, statements: list[str]) -> set[tuple[str, str]]:
    """Return the searches of the statements, as table and part of the index, each with its statement."""
    found = set()
    with closing(sqlite3.connect(str(database.engine.url.database))) as plain:
        for statement in statements:
            if not statement.startswith(("SELECT", "WITH")):
                continue
            for *_, step in plain.execute(f"EXPLAIN QUERY PLAN {statement}"):
                verb, _, rest = step.partition(" ")
                table, _, part = rest.partition(" USING ")
                if verb in ("SEARCH", "SCAN") and table in TABLES:
                    index = part.removeprefix("COVERING ").removeprefix("INDEX ")
                    found.add((f"{table}: {index}" if verb == "SEARCH" else step, statement))
    return found


@pytest.fixture(params=["few", "walk"])
def strategy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to find accounts."""
    if request.param == "walk":  # as if too many accounts met each condition
        monkeypatch.setattr(AccountSearch, "_narrowest", lambda _: None)
    return str(request.param)


@pytest.mark.parametrize("own_database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("sort", SORTS)
def test_each_filter_searches_a_bounded_part_of_an_index(own_database: Database, sort: str, strategy: str) -> None:
    with traced(own_database) as statements:
        search(own_database, sort)
    found = steps(own_database, statements)
    searched = {item for item in found if item[0] not in OF_ONE_ACCOUNT | OF_CONDITIONS}
    table, index = SORTS[sort]
    walk = f"{table}: ix_{table}_{index} (tenant_id=?"
    assert {item for item in searched if not item[0].startswith(walk) or is_of_few(item[1])} == set()
    positioned = {statement for statement in statements if has_position(statement) and not is_of_few(statement)}
    assert positioned - {statement for part, statement in found if part.startswith(walk) and ",uid)" in part} == set()
    assert any(part.startswith(walk) for part, _ in searched)
    assert any(is_of_few(statement) for statement in statements) == (strategy == "few")


def is_of_few(statement: str) -> bool:
    """Return whether a statement reads the accounts of a condition that few meet."""
    return " AS few" in statement


def has_position(statement: str) -> bool:
    """Return whether a statement selects what comes after a position: a key and an id."""
    return ".uid) < (" in statement or ".uid) > (" in statement


@contextmanager
def explained(database: Database) -> Iterator[list[dict[str, Any]]]:
    """Give the list of PostgreSQL's plans of the statements that run meanwhile."""
    plans: list[dict[str, Any]] = []

    def explain(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.startswith(("SELECT", "WITH")) and any(table in statement for table in TABLES):
            plain = connection.connection.driver_connection.cursor()
            plain.execute(f"EXPLAIN (FORMAT JSON) {statement}", parameters)
            plans.append(plain.fetchone()[0][0]["Plan"])

    event.listen(database.engine, "after_cursor_execute", explain)
    try:
        yield plans
    finally:
        event.remove(database.engine, "after_cursor_execute", explain)


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def fill(database: Database, tenant_id: str, number: int) -> None:
    """Insert so many accounts; one in fifty meets a condition."""
    of_accounts = """INSERT INTO accounts (tenant_id, uid, profile_id, email_verified, phone_verified, is_active, is_deleted,
        login_disabled, failed_attempts, lock_type, is_locked, logins, session_limit, emails, profile, private, created_at,
        modified_at, last_login_at)
        SELECT :tenant, md5(n::text), n::text, n % 50 = 0, false, n % 50 > 0, false, false, 0, 'None', false, 1, 0, '[]', '{}', '{}',
        now() - n * interval '1 minute', now(), now() - n * interval '1 minute' FROM generate_series(1, :number) n"""
    of_search = """INSERT INTO account_search
        SELECT tenant_id, uid, created_at, uid, uid, uid, email_verified, NULL FROM accounts WHERE tenant_id = :tenant"""
    of_identifiers = """INSERT INTO identifiers
        SELECT tenant_id, kind, CASE kind WHEN 'identity' THEN 'p' || substr(uid, 1, 1) || ' ' ELSE '' END || uid, uid, true
        FROM accounts, unnest(ARRAY['email', 'username', 'identity']) kind WHERE tenant_id = :tenant"""
    of_roles = "INSERT INTO account_roles SELECT tenant_id, uid, '', 'role ' || substr(uid, 1, 2) FROM accounts WHERE tenant_id = :tenant"
    of_members = """INSERT INTO organization_user_roles (tenant_id, user_role_id, uid, org_id, role_id, created_at)
        SELECT tenant_id, uid, uid, 'org_' || substr(uid, 1, 2), 'r', now() FROM accounts WHERE tenant_id = :tenant"""
    values = {"tenant": tenant_id, "number": number}
    with UnitOfWork(database, tenant_id).separate_transaction() as work:
        for statement in (of_accounts, of_search, of_identifiers, of_roles, of_members):
            work.run(text(statement).bindparams(**{name: values[name] for name in values if f":{name}" in statement}))


def test_postgres_scans_no_table_for_any_filter(copied_postgres: PostgresUrls, strategy: str) -> None:
    database = Database(over_psycopg(copied_postgres.runtime_url))
    for tenant_id in ("acme", "globex"):
        fill(database, tenant_id, 6_000)
    database.dispose()
    with psycopg.connect(copied_postgres.migrate_url, autocommit=True) as owner:
        # As for many accounts on a solid-state disk: reading a page of them by an index costs less than a scan.
        owner.execute(f'ALTER DATABASE "{owner.info.dbname}" SET random_page_cost = 1.0')
        for table in TABLES:
            owner.execute(f"VACUUM ANALYZE {table}")
    with explained(database) as plans:
        search(database, "email")
        search(database, "email", MANY)
        search(database, "last_login", {})
    database.dispose()
    found = [node for plan in plans for node in nodes(plan)]
    assert [node["Relation Name"] for node in found if node["Node Type"] == "Seq Scan"] == []
    searched = {(node["Index Name"], node.get("Index Cond", "")) for node in found if "Index Name" in node}
    orders = {f"ix_{table}_{index}" for table, index in SORTS.values()}
    # Where nearly all accounts are unverified, the first by id are read.
    of_tenant = orders | {"ix_accounts_blocked", "pk_account_search"}
    assert {item for item in searched if conditions_of(item[1]) < 2 and item[0] not in of_tenant} == set()
    assert {item for item in searched if conditions_of(item[1]) < 1} == set()
    assert {"ix_accounts_last_login", "ix_account_search_email"} <= {index for index, _ in searched}


def conditions_of(search: str) -> int:
    """Return how many conditions the search of an index has; one is the tenant."""
    return len(search.split(" AND ")) if "tenant_id" in search else 0
