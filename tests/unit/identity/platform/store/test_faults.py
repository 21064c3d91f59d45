"""A full or read-only SQLite database: 503 with Retry-After, no partial writes, and service after the repair."""

from __future__ import annotations

import logging
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.registry import REGISTRY
from sqlalchemy import event, func, insert, select, text
from sqlalchemy.engine import Engine
from werkzeug.test import Client, TestResponse

from app.contract.tenants.branding import Brand
from app.contract.tenants.settings import Argon2, TenantSettings
from app.identity import create_app, create_service, create_services
from app.identity.assembly import health
from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.directory.tenants.tables import tenants
from app.identity.platform.audit import audit
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.database import Database, DiskFull, StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.clock import SystemClock
from app.kit.limits import time_budget
from app.kit.observability import metrics
from app.kit.observability.health import Health
from app.settings import Settings
from tests.support.processes.installation import migrated
from tests.support.services.servers import Postgres

MANAGE = "/identity/v2/manage/account"
LOGIN = "/identity/v2/auth/login"
PASSWORD = "Zebra-kettle-91"
TENANT, KEY, SECRET = "faulty", "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
BOOKS = (accounts, identifiers, audit)


class FaultPoint:
    """One tenant of a service whose database can be spoilt."""

    def __init__(self, services: IdentityServices) -> None:
        self.services = services
        self.client = Client(create_app(create_service(services)))
        self._pragma: str | None = None
        event.listen(services.database.engine, "connect", self._connected)
        settings = TenantSettings(argon2=Argon2(memory_kib=8192, iterations=1), email_verification="optional")
        row = {
            "tenant_id": TENANT,
            "name": TENANT,
            "api_key": KEY,
            "api_secret": services.encryption.encrypt(SECRET.encode(), f"{TENANT} api_secret"),
            "version": 1,
            "settings": settings.model_dump(mode="json"),
            "brand": Brand().model_dump(mode="json"),
            "is_active": True,
            "created_at": services.clock.now(),
        }
        with UnitOfWork(services.database, TENANT).separate_transaction() as work:
            work.run(insert(tenants), row)

    def _connected(self, connection: Any, _record: Any) -> None:
        if self._pragma:
            connection.execute(self._pragma)

    def spoil(self, pragma: str | None) -> None:
        """Let every connection from now on have this fault; None mends it."""
        self._pragma = pragma
        self.services.database.dispose()

    def create(self, email: str) -> TestResponse:
        body = {"Email": [{"Type": "Primary", "Value": email}], "Password": PASSWORD}
        return self._post(MANAGE, body, {"apikey": KEY, "apisecret": SECRET})

    def sign_in(self, email: str, password: str = PASSWORD) -> TestResponse:
        return self._post(LOGIN, {"email": email, "password": password}, {"apikey": KEY})

    def _post(self, path: str, body: dict[str, Any], query: dict[str, str]) -> TestResponse:
        base = f"http://{self.services.settings.api_hostname}"
        return self.client.post(path, json=body, query_string=query, base_url=base)

    def rows(self) -> list[int]:
        """Return how many rows the tables have."""
        work = UnitOfWork(self.services.database, TENANT)
        try:
            return [int(work.run(select(func.count()).select_from(table)).scalar_one()) for table in BOOKS]
        finally:
            work.rollback()


@pytest.fixture
def place(tmp_path: Path, migrated_file: Path) -> Iterator[FaultPoint]:
    settings = Settings(data_dir=tmp_path, secrets=(b"a secret of the tests, long enough to be one",))
    shutil.copy(migrated_file, tmp_path / "gatehouse.db")
    services = create_services(settings)
    made = FaultPoint(services)
    assert made.create("first@example.test").status_code == 200
    yield made
    services.database.dispose()


FAULTS = {"full": "PRAGMA max_page_count=1", "read-only": "PRAGMA query_only=ON"}
NAMED = {"full": r"the disk of \S+gatehouse\.db is full", "read-only": r"\S+gatehouse\.db or its folder is read-only"}
LARGE = {"text": "x" * 60_000}


def entry(place: FaultPoint, facts: dict[str, str]) -> dict[str, Any]:
    """Return a row of the audit trail."""
    at = place.services.clock.now()
    return {"tenant_id": TENANT, "entry_id": randomness.token(18), "at": at, "event": "test", "facts": facts}


def write(work: UnitOfWork, place: FaultPoint, facts: dict[str, str], times: int) -> None:
    for _ in range(times):
        work.run(insert(audit), entry(place, facts))


def write_apart(place: FaultPoint, facts: dict[str, str], times: int) -> None:
    """Write rows each in a transaction of its own."""
    for _ in range(times):
        with UnitOfWork(place.services.database, TENANT).separate_transaction() as work:
            write(work, place, facts, 1)


def spoilt(place: FaultPoint, fault: str) -> None:
    """Spoil the database; a full one has not even room in the pages that it has."""
    place.spoil(FAULTS[fault])
    for facts in (LARGE, {}):
        with pytest.raises(StoreUnavailable, match=NAMED[fault]):
            write_apart(place, facts, 500)


def is_unavailable(answer: TestResponse) -> bool:
    return answer.status_code == 503 and int(answer.headers["Retry-After"]) >= 1


@pytest.mark.parametrize("fault", FAULTS)
def test_write_is_refused_with_503_and_leaves_nothing(place: FaultPoint, fault: str) -> None:
    spoilt(place, fault)
    before = place.rows()
    answer = place.create("second@example.test")
    assert is_unavailable(answer), answer.text
    assert "sqlite" not in answer.text.lower()
    assert place.rows() == before
    place.spoil(None)
    assert place.rows() == before
    assert place.create("second@example.test").status_code == 200


def test_reads_continue_while_writes_fail(place: FaultPoint) -> None:
    place.spoil(FAULTS["read-only"])
    query = {"apikey": KEY, "apisecret": SECRET, "email": "first@example.test"}
    base = f"http://{place.services.settings.api_hostname}"
    assert place.client.get(MANAGE, query_string=query, base_url=base).status_code == 200


def test_no_password_is_checked_without_counting_it(place: FaultPoint) -> None:
    place.spoil(FAULTS["read-only"])
    assert is_unavailable(place.sign_in("first@example.test", "Not-the-one-17"))
    assert is_unavailable(place.sign_in("first@example.test"))
    place.spoil(None)
    answer = place.sign_in("first@example.test")
    assert answer.status_code == 200
    assert answer.get_json()["Profile"]["NoOfLogins"] == 1


@pytest.mark.parametrize("fault", FAULTS)
def test_transaction_is_atomic(place: FaultPoint, fault: str) -> None:
    before = place.rows()
    place.spoil(FAULTS[fault])
    work = UnitOfWork(place.services.database, TENANT)
    with pytest.raises(StoreUnavailable):
        write(work, place, LARGE if fault == "full" else {}, 500)
    work.rollback()
    place.spoil(None)
    assert place.rows() == before
    write_apart(place, {}, 1)
    assert place.rows()[-1] == before[-1] + 1


def test_fault_halfway_rolls_back_earlier_writes(place: FaultPoint) -> None:
    before = place.rows()
    work = UnitOfWork(place.services.database, TENANT)
    write(work, place, {}, 3)
    work.run(text(FAULTS["read-only"]))
    with pytest.raises(StoreUnavailable):
        write(work, place, {}, 1)
    work.rollback()
    place.spoil(None)
    assert place.rows() == before


def hurried(ask: Callable[[], Any]) -> Any:
    """Ask as a request that may wait for half a second."""
    time_budget.begin(0.5)
    return ask()


def test_locked_database_is_waited_for_then_refused(
    place: FaultPoint,
) -> None:
    before = place.rows()
    file = str(place.services.database.engine.url.database)
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        assert is_unavailable(copy_context().run(hurried, lambda: place.create("third@example.test")))
    finally:
        holder.execute("ROLLBACK")
        holder.close()
    assert place.rows() == before
    assert place.create("third@example.test").status_code == 200


def test_unwritable_database_is_not_ready(place: FaultPoint) -> None:
    def read_only(connection: Any, _record: Any) -> None:
        connection.execute(FAULTS["read-only"])

    assert health.checks(place.services.settings)["database"]() is None
    event.listen(Engine, "connect", read_only)
    try:
        with pytest.raises(StoreUnavailable, match=r"gatehouse\.db or its folder is read-only"):
            health.checks(place.services.settings)["database"]()
    finally:
        event.remove(Engine, "connect", read_only)


def _probed(settings: Settings) -> Health:
    return Health(lambda *_: [], health.checks(settings), disk=health.disk(settings))


def ready(services: IdentityServices) -> tuple[int, Any]:
    """Return the status and the parts of a readiness probe."""
    answer = Client(_probed(services.settings)).get("/health/ready")
    return answer.status_code, answer.get_json()["parts"]


def test_full_disk_is_named_and_leaves_the_process_ready(place: FaultPoint) -> None:
    assert ready(place.services) == (200, {"database": "ok"})
    spoilt(place, "full")
    assert ready(place.services) == (200, {"database": "ok", "disk": "full"})
    query = {"apikey": KEY, "apisecret": SECRET, "email": "first@example.test"}
    base = f"http://{place.services.settings.api_hostname}"
    assert place.client.get(MANAGE, query_string=query, base_url=base).status_code == 200


def test_refused_writes_of_a_full_disk_are_counted(place: FaultPoint) -> None:
    metrics.count_full_disk()
    assert REGISTRY.get_sample_value("gatehouse_disk_full_total") == 0
    spoilt(place, "full")
    assert (REGISTRY.get_sample_value("gatehouse_disk_full_total") or 0) >= 2


def test_full_disk_of_a_server_is_named(own_postgres: Postgres) -> None:
    """A real error of the server: its answer where a file can't grow."""
    urls = migrated(own_postgres.database("full"))
    database = Database(urls.runtime_url.replace("postgresql://", "postgresql+psycopg://"))
    function = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {} END $$"
    raised = "RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'could not extend file'; RETURN NEW;"
    own_postgres.execute(function.format(raised), "full")
    own_postgres.execute(
        "CREATE TRIGGER full_disk BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION refuse()", "full"
    )
    work = UnitOfWork(database, TENANT)
    row = {"tenant_id": TENANT, "entry_id": "1", "at": SystemClock().now(), "event": "test", "facts": {}}
    with pytest.raises(DiskFull, match="the disk of its server is full"):
        work.run(insert(audit), row)
    work.rollback()
    settings = Settings(database_url=str(database.url), secrets=(b"0" * 32,))
    answer = Client(_probed(settings)).get("/health/ready")
    assert (answer.status_code, answer.get_json()["parts"]) == (200, {"database": "ok", "disk": "full"})
    database.dispose()


def test_database_locked_by_a_writer_is_ready(place: FaultPoint) -> None:
    with place.services.database.connect() as connection:
        connection.execute(text("BEGIN IMMEDIATE"))
        assert health.checks(place.services.settings)["database"]() is None
        connection.execute(text("ROLLBACK"))


def test_probes_rarely_write(place: FaultPoint) -> None:
    check = health.checks(place.services.settings)["database"]
    check()
    before = changes_of(place)
    for _ in range(5):
        check()
    assert changes_of(place) == before


def changes_of(place: FaultPoint) -> int:
    """Return SQLite's own count of what others committed."""
    with place.services.database.connect() as connection:
        return int(connection.execute(text("PRAGMA data_version")).scalar_one())


def test_deleted_data_does_not_stay_in_the_file(place: FaultPoint) -> None:
    with place.services.database.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA secure_delete").scalar_one() == 1


def test_outage_is_one_line_and_a_count_without_tracebacks(place: FaultPoint, caplog: pytest.LogCaptureFixture) -> None:
    spoilt(place, "read-only")
    with caplog.at_level(logging.WARNING, logger="gatehouse.api"):
        assert {place.create(f"{number}@example.test").status_code for number in range(20)} == {503}
    lines = [record for record in caplog.records if record.name == "gatehouse.api"]
    assert 1 <= len(lines) <= 4, "20 refusals within a moment"
    assert [record.exc_info for record in lines if record.exc_info] == []
    assert {record.getMessage() for record in lines} == {"api.unavailable"}
    first = [record for record in lines if "kind" not in record.__dict__]  # without the count of an earlier test's
    assert [record.__dict__["operation"] for record in first][:1] == ["accounts.create"]
    place.spoil(None)
