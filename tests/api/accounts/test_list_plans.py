"""Lists of accounts search a bounded part of an index, whatever is filtered and sorted."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from app.contract.accounts.account_list_operations import ListAccounts
from app.identity.directory.account_search.account_conditions import conditions
from app.identity.directory.account_search.account_list import COLUMNS
from app.identity.directory.account_search.account_search import AccountSearch, Position
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.api.platform.test_outbox_plans import traced

TIME = "2026-11-29T08:00:00Z"
FILTERS: dict[str, Any] = {
    "text": "ada", "created_from": TIME, "created_to": TIME, "last_login_from": TIME, "last_login_to": TIME, "provider": "google",
    "role": "staff", "organization": "org_1", "verified": True, "blocked": True,
}  # fmt: skip
SORTS = {"created": "created_uid", "last_login": "last_login", "email": "email", "name": "name"}
BY_KEY = "accounts: sqlite_autoindex_accounts_1 (tenant_id=? AND uid=?)"
OF_CONDITIONS = {
    "accounts: ix_accounts_blocked (tenant_id=?)",
    "accounts: ix_accounts_created_uid (tenant_id=? AND created_at<?)",
    "accounts: ix_accounts_created_uid (tenant_id=? AND created_at>? AND created_at<?)",
    "accounts: ix_accounts_created_uid (tenant_id=? AND created_at>?)",
    "accounts: ix_accounts_last_login (tenant_id=? AND last_login_key<?)",
    "accounts: ix_accounts_last_login (tenant_id=? AND last_login_key>? AND last_login_key<?)",
    "accounts: ix_accounts_last_login (tenant_id=? AND last_login_key>?)",
    "accounts: ix_accounts_last_name (tenant_id=? AND last_name_key>? AND last_name_key<?)",
    "accounts: ix_accounts_name (tenant_id=? AND name_key>? AND name_key<?)",
    "accounts: ix_accounts_verified (tenant_id=?)",
    "account_roles: ix_account_roles_accounts (tenant_id=? AND role=? AND context=?)",
    "account_roles: sqlite_autoindex_account_roles_1 (tenant_id=? AND uid=? AND context=? AND role=?)",
    "identifiers: ix_identifiers_uid (tenant_id=? AND uid=?)",
    "identifiers: sqlite_autoindex_identifiers_1 (tenant_id=? AND kind=? AND value>? AND value<?)",
    "organization_user_roles: ix_organization_user_roles_members (tenant_id=? AND org_id=? AND uid=?)",
    "organization_user_roles: ix_organization_user_roles_members (tenant_id=? AND org_id=?)",
}
"""Searches up to `FEW` rows, or the rows of one account."""


def steps(database: Database, statements: list[str]) -> dict[str, str]:
    """Return the searches of the statements, as table and part of the index, each with a statement."""
    found = {}
    with closing(sqlite3.connect(str(database.engine.url.database))) as plain:
        for statement in statements:
            if not statement.startswith(("SELECT", "WITH")):
                continue
            for *_, step in plain.execute(f"EXPLAIN QUERY PLAN {statement}"):
                verb, _, rest = step.partition(" ")
                table, _, part = rest.partition(" USING ")
                if verb in ("SEARCH", "SCAN") and table in TABLES:
                    index = part.removeprefix("COVERING ").removeprefix("INDEX ")
                    found[f"{table}: {index}" if verb == "SEARCH" else step] = statement
    return found


TABLES = ("accounts", "account_roles", "identifiers", "organization_user_roles")


@pytest.mark.parametrize("own_database", ["sqlite"], indirect=True)
@pytest.mark.parametrize("are_few", [True, False])
@pytest.mark.parametrize("sort", SORTS)
def test_each_filter_searches_a_bounded_part_of_an_index(
    own_database: Database, monkeypatch: pytest.MonkeyPatch, sort: str, are_few: bool
) -> None:
    if not are_few:  # as if too many accounts met each condition
        monkeypatch.setattr(AccountSearch, "_narrowest", lambda _: None)
    key = FixedClock().now() if sort in ("created", "last_login") else "ada"
    searched: dict[str, str] = {}
    for names in ((), *((name,) for name in FILTERS), tuple(FILTERS)):
        request = ListAccounts.model_validate({"sort": sort, **{name: FILTERS[name] for name in names}})
        with traced(own_database) as statements:
            for after in (None, Position(key, "0")):
                work = UnitOfWork(own_database, "acme")
                stated = conditions(request, "acme", is_sqlite=True)
                AccountSearch(work, True, COLUMNS[sort], True, stated).page(after, 50)
                work.rollback()
        searched |= steps(own_database, statements)
    walks = {part for part in searched if part not in OF_CONDITIONS | {BY_KEY}}
    order = f"accounts: ix_accounts_{SORTS[sort]} (tenant_id=?"
    assert {part: searched[part] for part in walks if not part.startswith(order)} == {}
    assert any(part.startswith(order) for part in searched)
