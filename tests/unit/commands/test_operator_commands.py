"""What an operator reads: the audit log, suspended tenants, misspelled settings, and the report of an import."""

import json
import os
import re
import socket
import threading
from pathlib import Path

import pytest

from app.commands.serving import prepare_redis
from app.identity.platform.store.database import Database
from app.kit.observability.metrics import Exposition
from app.settings import Settings
from tests.support.processes.command_line import Run, refused


def test_tenant_is_suspended_and_resumed(run: Run, file: str) -> None:
    run("apply", file)
    assert run("tenant", "suspend", "acme").exit_code == 2
    assert run("tenant", "suspend", "acme", "--yes").exit_code == 0
    assert run("tenant", "list").output.endswith("(suspended)\n")
    assert "suspended; 'gatehouse tenant resume' takes it back" in run("apply", file).output
    assert run("tenant", "list").output.endswith("(suspended)\n"), "a file resumes it"
    run("tenant", "resume", "acme")
    assert "suspended" not in run("tenant", "list").output
    shown = run("audit", "acme").output
    assert re.findall(r"tenant\.\w+", shown) == ["tenant.resumed", "tenant.suspended"]


def test_misspelled_setting_is_pointed_out(run: Run) -> None:
    shown = run("migrate", databse_url="sqlite:///other.db", colour="red").output
    assert "Warning: GATEHOUSE_DATABSE_URL isn't a setting; did you mean GATEHOUSE_DATABASE_URL?\n" in shown
    assert "Warning: GATEHOUSE_COLOUR isn't a setting; it has no effect.\n" in shown
    assert "GATEHOUSE_SECRET_KEY " not in shown


def test_audit_log_is_shown_by_account_and_as_json(run: Run, tmp_path: Path) -> None:
    (tmp_path / "acme.yaml").write_text(
        "tenants: [{name: acme, accounts: [{email: a@x.example}, {email: b@x.example}]}]"
    )
    run("apply", "acme.yaml")
    assert len(run("audit", "acme").output.splitlines()) == 2
    assert len(run("audit", "acme", "--limit", "1").output.splitlines()) == 1
    (line,) = run("audit", "acme", "--email", "B@X.example", "--json").output.splitlines()
    entry = json.loads(line)
    assert (entry["event"], entry["facts"]) == ("account.created", {"source": "file"})
    assert f"uid={entry['uid']}" in run("audit", "acme", "--email", "b@x.example").output
    assert run("audit", "acme", "--reference", "BCDF-GHJK-LMNP").output == "No entries.\n"
    assert "no account with the email 'c@x.example'" in refused(run("audit", "acme", "--email", "c@x.example"))


def test_database_files_are_private(run: Run, file: str, tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        run("apply", file)
        database = Database(f"sqlite:///{tmp_path / 'gatehouse.db'}")
        with database.connect() as connection:
            connection.exec_driver_sql("UPDATE tenants SET version = version")
            modes = {found.name: found.stat().st_mode & 0o777 for found in tmp_path.glob("gatehouse.db*")}
        database.dispose()
    finally:
        os.umask(mask)
    assert modes == dict.fromkeys(("gatehouse.db", "gatehouse.db-wal", "gatehouse.db-shm"), 0o600)


def test_import_names_refused_lines_and_counts_outcomes(run: Run, file: str, tmp_path: Path) -> None:
    run("apply", file)
    (tmp_path / "people.ndjson").write_text('{"email": "ada@example.com"}\n{"email": "nobody"}\n')
    done = run("import", "acme", "people.ndjson")
    assert done.exit_code == 1
    refusal, summary = done.output.splitlines()
    assert refusal == "people.ndjson: line 2 (nobody): refused: email: expected a valid email"
    without = "1 new account without a password: sign in with a provider, or set a password at http://acme.localhost:8000/forgot-password."
    assert summary == f"Read 2 accounts: 1 created, 1 refused. {without}"
    tried = run("import", "acme", "people.ndjson", "--dry-run", "--skip", "1")
    assert tried.output.splitlines()[-1] == "Dry run: 1 account would be refused."
    assert "There's no tenant 'globex'" in refused(run("import", "globex", "people.ndjson"))
    assert "OLD=NEW" in refused(run("import", "acme", "people.ndjson", "--role", "editor"))
    (tmp_path / "people.csv").write_text("email\nada@example.com\n")
    assert refused(run("import", "acme", "people.csv")) == (
        "people.csv is neither JSON nor one JSON object per line. Nothing was imported."
    )


def test_realm_of_a_keycloak_export_is_chosen(run: Run, file: str, tmp_path: Path) -> None:
    run("apply", file)
    both = [{"realm": name, "users": [{"username": name, "email": f"{name}@example.com"}]} for name in ("ada", "eve")]
    (tmp_path / "all.json").write_text(json.dumps(both))
    command = ("import", "acme", "all.json", "--format", "keycloak")
    assert "several realms: ada, eve. Choose one with --realm NAME. Nothing was imported." in refused(run(*command))
    assert run(*command, "--realm", "eve").output.startswith("Read 1 account: 1 created.")


def test_export_of_another_system_is_recognized(run: Run, file: str, tmp_path: Path) -> None:
    run("apply", file)
    for form, record in (
        ("keycloak", {"id": "1", "emailVerified": True}),
        ("auth0", {"user_id": "auth0|1", "name": "A"}),
    ):
        (tmp_path / "people.ndjson").write_text(json.dumps({**record, "email": "ada@example.com"}))
        assert f"looks like an export of {form.title()}; add --format {form}." in refused(
            run("import", "acme", "people.ndjson")
        )
    (tmp_path / "people.ndjson").write_text('{"id": "1", "email": "ada@example.com"}')
    assert "did you mean id?" not in run("import", "acme", "people.ndjson").output


def test_start_warns_of_redis_that_does_not_respond(capsys: pytest.CaptureFixture[str]) -> None:
    prepare_redis(Settings(secrets=(b"0" * 32,)))
    assert capsys.readouterr().err == ""
    prepare_redis(Settings(redis_url="redis://127.0.0.1:9/0", secrets=(b"0" * 32,)))
    assert capsys.readouterr().err.startswith("Warning: Redis (GATEHOUSE_REDIS_URL) isn't responding: ")


def test_taken_metrics_port_is_named(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        Exposition(bind)(threading.Event())
    (line,) = [record for record in caplog.records if record.getMessage() == "metrics.off"]
    assert (line.__dict__["bind"], line.__dict__["problem"]) == (bind, "Address already in use")
