"""Database URLs: every spelling that operators use is accepted, and a contradictory one is refused in one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import make_url

from app.identity.platform.store.database import Database
from app.kit.settings.database_url import BadAddress, normalized, own_parameters

NORMALIZED = "postgresql+psycopg://u:p%40s@/db?host=one,two&port=5432,5433&target_session_attrs=read-write"


@pytest.mark.parametrize(
    "spelling",
    [
        "postgresql://u:p%40s@one,two:5433/db?target_session_attrs=read-write",
        "postgres://u:p%40s@one:5432,two:5433/db?target_session_attrs=read-write",
        "postgresql+psycopg://u:p%40s@/db?host=one,two&port=5432,5433&target_session_attrs=read-write",
    ],
)
def test_several_hosts_are_passed_to_the_driver(spelling: str) -> None:
    assert normalized(spelling) == NORMALIZED
    dialect: Any = PGDialect_psycopg  # untyped
    _, arguments = dialect().create_connect_args(make_url(normalized(spelling)))
    assert (arguments["host"], arguments["port"], arguments["user"], arguments["password"]) == (
        "one,two",
        "5432,5433",
        "u",
        "p@s",
    )
    assert arguments["target_session_attrs"] == "read-write"


def test_one_port_applies_to_all_hosts() -> None:
    assert "host=one,two&port=6000,6000" in normalized("postgresql://u@/db?host=one,two&port=6000")


def test_hosts_may_be_ipv6_addresses() -> None:
    assert "host=::1,2001:db8::2&port=5432,5433" in normalized("postgresql://u@[::1],[2001:db8::2]:5433/db")


@pytest.mark.parametrize(
    "plain",
    [
        "",
        "sqlite:////srv/gatehouse.db",
        "postgresql+psycopg://u:p@one:5432/db?sslmode=verify-full",
        "postgresql+psycopg://u:a%2Cb@/db?host=/run/postgresql",
    ],
)
def test_url_with_one_host_is_unchanged(plain: str) -> None:
    assert normalized(plain) == plain


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("mysql://x", "must start with"),
        ("postgresql://u@one,two/db?host=three", "twice"),
        ("postgresql://u@one,two/db?host=three,four", "twice"),
        ("postgresql://u@/db?host=one,two&port=1,2,3", "2 hosts and 3 ports"),
        ("postgresql://u@one:x,two/db", "malformed host"),
        ("postgresql://u@one:99999,two/db", "malformed port"),
        ("postgresql://u@one,,two/db", "malformed host"),
        ("postgresql://u@one/db?prepare=maybe", "prepare=maybe"),
        ("sqlite:///x.db?synchronous=off", "synchronous=off"),
    ],
)
def test_contradictory_url_is_refused(address: str, sentence: str) -> None:
    with pytest.raises(BadAddress, match=sentence):
        normalized(address)


def test_own_parameters_are_not_passed_to_the_driver() -> None:
    assert own_parameters("postgresql+psycopg://u@h/db?prepare=off&sslmode=require") == (
        "postgresql+psycopg://u@h/db?sslmode=require",
        {"prepare": "off"},
    )
    assert own_parameters("sqlite:///x.db?synchronous=NORMAL") == ("sqlite:///x.db", {"synchronous": "normal"})


def synchronous(address: str) -> int:
    """Return `PRAGMA synchronous` of a connection: 1 is NORMAL, 2 is FULL."""
    database = Database(address)
    with database.connect() as connection:
        found = int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())
    database.dispose()
    return found


def test_sqlite_waits_for_the_disk_by_default(tmp_path: Path) -> None:
    """In a process of its own: the tests' own databases do not wait."""
    asks = f"""
from app.identity.platform.store.database import Database
with Database("sqlite:///{tmp_path}/a.db").connect() as c:
    print(c.exec_driver_sql("PRAGMA synchronous").scalar_one())
"""
    done = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2"
    assert synchronous(f"sqlite:///{tmp_path}/a.db?synchronous=full") == 2
    assert synchronous(f"sqlite:///{tmp_path}/a.db?synchronous=normal") == 1
