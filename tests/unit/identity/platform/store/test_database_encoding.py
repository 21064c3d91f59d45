"""PostgreSQL databases that cannot store every name are refused at start; odd defaults of a role change nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli import cli
from tests.support.services.real_services import new_postgres
from tests.support.services.servers import Postgres, PostgresUrls

ENCODINGS = ["SQL_ASCII", "LATIN1", "LATIN2", "EUC_JP"]
ODD_DEFAULTS = {
    "client_encoding": "LATIN1",
    "TimeZone": "Asia/Kathmandu",
    "DateStyle": "ISO, DMY",
    "bytea_output": "escape",
    "standard_conforming_strings": "off",
    "IntervalStyle": "sql_standard",
}
TENANT = "tenants: [{name: acme, brand: {display_name: 'Żółć 日本 😀'}, accounts: [{email: ada@example.com, first_name: Łucja}]}]"


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    server = new_postgres()
    yield server
    server.remove()


def run(urls: PostgresUrls, folder: Path, *command: str) -> tuple[int, str]:
    environ = {
        **os.environ,
        "GATEHOUSE_DATABASE_URL": urls.runtime_url,
        "GATEHOUSE_MIGRATE_URL": urls.migrate_url,
        "GATEHOUSE_SECRET_KEY": "a-secret-of-the-tests-that-is-long-enough",
        "GATEHOUSE_DATA_DIR": str(folder),
    }
    done = CliRunner().invoke(cli, command, env=environ)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_other_encoding_is_refused_in_one_sentence(server: Postgres, encoding: str, tmp_path: Path) -> None:
    template, name = f"template_{encoding.lower()}", encoding.lower()
    server.execute(f"CREATE DATABASE {template} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    refused(
        server.database(name, template),
        tmp_path,
        f"The database '{name}' has the encoding {encoding}, but names need UTF8.",
    )


@pytest.mark.parametrize("style", ["German", "SQL, DMY"])
def test_style_of_times_that_cannot_be_read_is_refused(server: Postgres, style: str, tmp_path: Path) -> None:
    name = f"style_{style[0].lower()}"
    urls = server.database(name)
    server.execute(f"ALTER DATABASE {name} SET DateStyle = '{style}'")
    refused(urls, tmp_path, f"The database '{name}' has DateStyle ")


def refused(urls: PostgresUrls, folder: Path, sentence: str) -> None:
    (folder / "tenant.yaml").write_text(TENANT)
    serve, apply = ["serve", "--bind", "127.0.0.1:0"], ["apply", str(folder / "tenant.yaml")]
    for command in (["migrate"], serve, apply, ["tenant", "list"]):
        code, printed = run(urls, folder, *command)
        assert code != 0
        assert sentence in printed
        assert len(printed.strip().splitlines()) == 1, printed


def test_odd_defaults_of_the_roles_change_nothing(server: Postgres, tmp_path: Path) -> None:
    urls = server.database("odd")
    for name, value in ODD_DEFAULTS.items():
        server.execute(f"ALTER DATABASE odd SET {name} = '{value}'")
    (tmp_path / "tenant.yaml").write_text(TENANT)
    for command in (["migrate"], ["apply", str(tmp_path / "tenant.yaml")]):
        code, printed = run(urls, tmp_path, *command)
        assert code == 0, printed
    _, exported = run(urls, tmp_path, "export", "acme")
    assert "Żółć 日本 😀" in exported
    _, planned = run(urls, tmp_path, "apply", "--dry-run", str(tmp_path / "tenant.yaml"))
    assert "0 to create, 0 to change" in planned
