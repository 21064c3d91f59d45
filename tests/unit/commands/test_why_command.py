"""The command that tells why an answer of an identity provider was refused."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from app.identity.authentication.federation.connection_traces import RETENTION, traces
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.processes.command_line import Run, refused


def store_trace(folder: Path, reference: str, connection: str, check: str) -> None:
    database, now = Database(f"sqlite:///{folder / 'gatehouse.db'}"), datetime.now(UTC)
    work = UnitOfWork(database, LOOKUP_TENANT)
    tenant = tenant_writes.by_name(work, "acme")
    assert tenant is not None
    work.release_connection()
    work.switch_tenant(tenant.tenant_id)
    work.run(
        traces.insert().values(
            tenant_id=tenant.tenant_id, trace_id=reference, at=now, reference=reference, connection=connection,
            failed_check=check, expected="aud: shop", received="another-client", expires_at=now + RETENTION,
        )
    )  # fmt: skip
    work.commit()
    database.dispose()


def test_reference_shows_what_to_change(run: Run, file: str, tmp_path: Path) -> None:
    run("apply", file)
    store_trace(tmp_path, "BCDF-GHJK-LMNP", "google", "aud")
    lines = dict(line.split(":", 1) for line in run("why", "acme", "BCDF-GHJK-LMNP").output.splitlines())
    assert {name: text.strip() for name, text in lines.items() if name in ("connection", "failed check", "received")} == {
        "connection": "google", "failed check": "aud", "received": "another-client",
    }  # fmt: skip
    assert "client ID" in lines["what to change"]


def test_check_of_a_newer_release_has_general_advice(run: Run, file: str, tmp_path: Path) -> None:
    run("apply", file)
    store_trace(tmp_path, "BCDF-GHJK-LMNP", "google", "check_of_tomorrow")
    assert "check_of_tomorrow" in run("why", "acme", "BCDF-GHJK-LMNP").output


def test_latest_answers_are_listed_by_connection(run: Run, file: str, tmp_path: Path) -> None:
    run("apply", file)
    store_trace(tmp_path, "AAAA-AAAA", "google", "aud")
    store_trace(tmp_path, "BBBB-BBBB", "github", "code")
    assert [line.split()[2] for line in run("why", "acme").output.splitlines()] == ["BBBB-BBBB", "AAAA-AAAA"]
    assert [line.split()[-1] for line in run("why", "acme", "--connection", "google").output.splitlines()] == ["aud"]


def test_unknown_reference_points_to_the_audit_log(run: Run, file: str) -> None:
    run("apply", file)
    assert "gatehouse audit acme --reference" in refused(run("why", "acme", "BCDF-GHJK-LMNP"))
    assert "There's no tenant 'globex'" in refused(run("why", "globex", "BCDF-GHJK-LMNP"))


def test_cause_of_a_failed_call_has_its_own_advice(run: Run, file: str, tmp_path: Path) -> None:
    run("apply", file)
    store_trace(tmp_path, "BCDF-GHJK-LMNP", "google", "keys/too_long")
    told = run("why", "acme", "BCDF-GHJK-LMNP").output
    assert "failed check:   keys/too_long" in told
    assert "The provider’s key set answered too much." in told
    assert "jwks_uri" in told.partition("what to change:")[2]
    assert run("why", "acme").output.split()[-1] == "keys/too_long"
