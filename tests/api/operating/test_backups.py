"""Backups of a live database are complete or refused, and accounts can sign in after the restore."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from app.identity.assembly.clean_up import audit_retention
from app.identity.platform.store.database import Database
from app.identity.platform.store.database_backup import BackupRefused, create, verify
from app.kit.clock import SystemClock
from tests.support.accounts.registering import REGISTER, primary
from tests.support.processes.commands import this_version
from tests.support.processes.installation import Installation, installed
from tests.support.services.servers import Postgres, PostgresUrls
from tests.support.tenants.tenant_server import PASSWORD

pytestmark = pytest.mark.both_databases("first")

LOGIN, SOTT = "/identity/v2/auth/login", "/identity/v2/manage/account/sott"
BEFORE = [f"person-{number}@example.test" for number in range(3)]


def gatehouse(ours: Installation, *arguments: str, **settings: str) -> tuple[int, str]:
    """Run a command; return its exit status and its output."""
    log = ours.folder / f"{'-'.join(arguments[:2])}.log"
    log.unlink(missing_ok=True)
    status = this_version().exit_status({**ours.environ, **settings}, *arguments, log=log)
    return status, log.read_text()


def refused(done: tuple[int, str]) -> str:
    status, said = done
    assert (status, "Traceback" in said) == (2, False), said
    return said


def register(ours: Installation, email: str) -> None:
    sott = ours.send("GET", SOTT, with_secret=True).json()["Sott"]
    answer = ours.send("POST", REGISTER, {"Email": primary(email), "Password": PASSWORD}, sott=sott)
    assert answer.status_code == 200, answer.text


def signs_in(ours: Installation, email: str) -> bool:
    return bool(ours.send("POST", LOGIN, {"email": email, "password": PASSWORD}).status_code == 200)


def serve(ours: Installation) -> None:
    ours.tenant(email_verification="optional", email_login=True)
    ours.start()
    for email in BEFORE:
        register(ours, email)


@contextmanager
def concurrent_registrations(ours: Installation) -> Iterator[None]:
    """Register accounts while the block runs."""
    stop = threading.Event()

    def register_accounts() -> None:
        number = 0
        while not stop.is_set():
            register(ours, f"meanwhile-{number}@example.test")
            number += 1
            stop.wait(0.1)

    thread = threading.Thread(target=register_accounts)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def with_driver(url: str) -> str:
    """Return the URL with the driver name, as the settings need it."""
    return url.replace("postgresql:", "postgresql+psycopg:")


def maintained_partitions(server: Postgres, restored: PostgresUrls) -> int:
    """Maintain the monthly audit partitions and return their number."""
    worker = Database(with_driver(restored.runtime_url))
    audit_retention.maintain_partitions(worker, SystemClock().now())
    worker.dispose()
    months = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'audit'::regclass AND inhrelid::regclass::text ~ 'audit_[0-9]'"
    return int(server.value(months, restored.runtime_url.rsplit("/", 1)[1]))


def test_restored_postgres_backup_has_every_account(
    postgres_server: Postgres, migrated_postgres: str, tmp_path: Path
) -> None:
    urls, file = postgres_server.database("backed_up", migrated_postgres), tmp_path / "gatehouse.dump"
    fresh = postgres_server.database("restored")
    try:
        with installed(tmp_path, urls) as ours:
            serve(ours)
            source = {"GATEHOUSE_BACKUP_URL": postgres_server.backup_url("backed_up")}
            with concurrent_registrations(ours):
                status, said = gatehouse(ours, "backup", "create", str(file), **source)
                assert status == 0, said
            target = with_driver(postgres_server.backup_url("restored"))
            with pytest.raises(BackupRefused, match="isn't a Gatehouse database"):
                verify(target, file)
            restore = [
                postgres_server.binary("pg_restore"),
                "--no-owner",
                "--exit-on-error",
                f"--dbname={fresh.migrate_url}",
            ]
            subprocess.run([*restore, str(file)], check=True, capture_output=True)
            stored = verify(target, file).rows
            assert min(stored["accounts"], stored["audit"]) >= len(BEFORE)
            assert not any(name.startswith("audit_") for name in stored), "partitions count in their table"
            assert file.stat().st_mode & 0o077 == 0
            ours.stop()
            ours.environ["GATEHOUSE_DATABASE_URL"] = fresh.runtime_url
            ours.start()
            assert [email for email in BEFORE if not signs_in(ours, email)] == []
            register(ours, "afterwards@example.test")
            assert maintained_partitions(postgres_server, fresh) >= 1
            with pytest.raises(BackupRefused, match=r"accounts: .* instead of"):
                verify(target, file)
    finally:
        postgres_server.drop("backed_up")
        postgres_server.drop("restored")


def test_backup_by_role_under_row_security_is_refused(
    postgres_server: Postgres, migrated_postgres: str, tmp_path: Path
) -> None:
    urls, file = postgres_server.database("blind", migrated_postgres), tmp_path / "gatehouse.dump"
    fresh = postgres_server.database("emptied")
    try:
        with installed(tmp_path, urls) as ours:
            ours.tenant(email_verification="optional")
            said = refused(gatehouse(ours, "backup", "create", str(file), GATEHOUSE_BACKUP_URL=urls.migrate_url))
            assert "Row-level security hides" in said
            assert "Set GATEHOUSE_BACKUP_URL" in refused(gatehouse(ours, "backup", "create", str(file)))
            with pytest.raises(BackupRefused, match="Row-level security hides"):
                create(with_driver(urls.runtime_url), file, postgres_server.binary("pg_dump"))
            assert not file.exists()
            create(with_driver(postgres_server.backup_url("blind")), file, postgres_server.binary("pg_dump"))
            blind = tmp_path / "blind.dump"
            dump = [postgres_server.binary("pg_dump"), "--format=custom", f"--file={blind}"]
            assert subprocess.run([*dump, urls.migrate_url], capture_output=True, check=False).returncode != 0
            subprocess.run([*dump, "--enable-row-security", urls.migrate_url], capture_output=True, check=True)
            restore = [postgres_server.binary("pg_restore"), "--no-owner", f"--dbname={fresh.migrate_url}", str(blind)]
            subprocess.run(restore, check=True, capture_output=True)
            target = postgres_server.backup_url("emptied")
            said = refused(gatehouse(ours, "backup", "check", str(file), GATEHOUSE_BACKUP_URL=target))
            assert "tenants: 0 instead of 1" in said
    finally:
        postgres_server.drop("blind")
        postgres_server.drop("emptied")


def test_backup_role_cannot_write(postgres_server: Postgres) -> None:
    postgres_server.database("read_only")
    try:
        postgres_server.execute("CREATE TABLE note (tenant_id text)", "read_only")
        with psycopg.connect(postgres_server.backup_url("read_only"), autocommit=True) as role:
            assert role.execute("SELECT count(*) FROM note").fetchone() == (0,)
            role.execute("SET default_transaction_read_only = off")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                role.execute("INSERT INTO note VALUES ('acme')")
    finally:
        postgres_server.drop("read_only")


def test_restored_sqlite_backup_has_every_account(tmp_path: Path) -> None:
    file, place = tmp_path / "copy.db", tmp_path / "restored"
    place.mkdir()
    with installed(tmp_path) as ours:
        serve(ours)
        with concurrent_registrations(ours):
            status, said = gatehouse(ours, "backup", "create", str(file))
            assert status == 0, said
        with pytest.raises(BackupRefused, match="never overwritten"):
            create(ours.settings.database, file)
        assert verify(ours.settings.database, file).rows["accounts"] >= len(BEFORE)
        ours.stop()
        shutil.copy(file, place / "gatehouse.db")
        ours.environ["GATEHOUSE_DATA_DIR"] = str(place)
        ours.start()
        assert [email for email in BEFORE if not signs_in(ours, email)] == []


def test_altered_backup_is_refused(migrated_file: Path, tmp_path: Path) -> None:
    file, source = tmp_path / "copy.db", f"sqlite:///{migrated_file}"
    create(source, file)
    with closing(sqlite3.connect(file)) as copy:
        copy.execute("CREATE TABLE extra (id int)")
    with pytest.raises(BackupRefused, match="changed or cut off"):
        verify(source, file)


@pytest.mark.parametrize("url", ["sqlite:///gatehouse.db", "postgresql+psycopg://reader@127.0.0.1:9/gatehouse"])
def test_missing_folder_is_named(url: str, tmp_path: Path) -> None:
    with pytest.raises(BackupRefused, match=f"There's no folder {tmp_path / 'none'}"):
        create(url, tmp_path / "none" / "copy")
