"""The worker completes what lists of accounts search, after an upgrade and after processes of an older version."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, update

from app.identity.assembly.clean_up import search_completion
from app.identity.assembly.clean_up.search_completion import ROUND_INTERVAL, SearchCompletion
from app.identity.directory.accounts.tables import account_search, accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.api.accounts.test_list import page
from tests.support.tenants.tenant_server import TenantServer

pytestmark = pytest.mark.both_databases
NOW = FixedClock().now()


@pytest.fixture
def worker(acme: TenantServer, monkeypatch: pytest.MonkeyPatch) -> SearchCompletion:
    """A completion that reads the accounts of one tenant, two in a transaction, and one transaction a turn."""
    monkeypatch.setattr(search_completion, "tenant_ids", lambda _: iter([acme.tenant_id]))
    monkeypatch.setattr(search_completion, "BATCH", 2)
    monkeypatch.setattr(search_completion, "BATCHES_PER_TURN", 1)
    return SearchCompletion(acme.services.database)


def run(tenant: TenantServer, statement: Any) -> None:
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        work.run(statement)


def found(tenant: TenantServer, text: str) -> list[str]:
    return [item["Uid"] for item in page(tenant, text=text)["Data"]]


def test_missing_rows_are_written_in_turns(acme: TenantServer, worker: SearchCompletion) -> None:
    uids = [str(acme.create(FirstName="Ada")["Uid"]) for _ in range(5)]
    run(acme, delete(account_search).where(account_search.c.tenant_id == acme.tenant_id))
    assert found(acme, "ada") == []
    turns = [worker.turn(NOW) for _ in range(4)]
    assert (turns[:2], sum(turns)) == ([2, 2], 5)
    assert set(found(acme, "ada")) == set(uids)


def test_row_that_older_code_left_behind_is_renewed(acme: TenantServer, worker: SearchCompletion) -> None:
    uid = str(acme.create(FirstName="Ada")["Uid"])
    changed = {"profile": {"FirstName": "Zoe"}, "profile_modified_at": NOW + timedelta(days=9)}
    run(acme, update(accounts).where(accounts.c.tenant_id == acme.tenant_id, accounts.c.uid == uid).values(**changed))
    assert found(acme, "zoe") == []
    assert worker.turn(NOW) == 1
    assert (found(acme, "zoe"), found(acme, "ada")) == ([uid], [])


def test_round_begins_once_a_day(acme: TenantServer, worker: SearchCompletion) -> None:
    assert [worker.turn(NOW) for _ in range(2)] == [0, 0]
    acme.create(FirstName="Ada")
    run(acme, delete(account_search).where(account_search.c.tenant_id == acme.tenant_id))
    assert worker.turn(NOW + ROUND_INTERVAL / 2) == 0
    assert sum(worker.turn(NOW + 2 * ROUND_INTERVAL) for _ in range(2)) == 1


def test_deleted_account_leaves_no_row(acme: TenantServer) -> None:
    uid = str(acme.create(FirstName="Ada")["Uid"])
    acme.send("DELETE", f"/identity/v2/manage/account/{uid}")
    assert page(acme, text="ada") == {"Data": [], "Count": 0, "CountIsLowerBound": False}
