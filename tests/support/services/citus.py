"""A given Citus cluster in place of the run's PostgreSQL (`--citus URL`). Nothing of Citus is part of the repository."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy.engine import make_url

from tests.support.services.servers import OWNER, ROLES, RUNTIME, SUPERUSER, Postgres, PostgresUrls

SETUP = ROLES.with_name("citus.sql")
_NODES = "SELECT nodename, nodeport FROM pg_dist_node WHERE isactive AND noderole = 'primary' ORDER BY groupid"
_NO_SESSIONS = 'ALTER DATABASE "{}" ALLOW_CONNECTIONS false'
"""Citus's own session would be back before a copy of the database has begun."""
_END_SESSIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--citus",
        metavar="URL",
        help="run tests of PostgreSQL on this cluster: a superuser on the coordinator, a database that knows the nodes",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests that are about Citus itself, unless there is one."""
    return True if "citus" in collection_path.parts[-2:] and not config.getoption("--citus") else None


@dataclass
class Citus(Postgres):
    """The coordinator of a cluster that others started: databases are made on each of its nodes."""

    address: str = ""
    nodes: list[tuple[str, int]] = field(default_factory=list)

    @classmethod
    def at(cls, url: str) -> Citus:
        """Read the nodes of a cluster; the first one is the coordinator."""
        with psycopg.connect(url, autocommit=True) as connection:
            nodes = [(str(host), int(port)) for host, port in connection.execute(_NODES.encode())]
        given = make_url(url)
        return cls(
            Path(),
            int(given.port or 5432),
            superuser_password=given.password or "",
            address=str(given.host),
            nodes=nodes,
        )

    def url(self, user: str, password: str, database: str) -> str:
        return f"postgresql://{user}:{password}@{self.address}:{self.port}/{database}"

    def database(self, name: str, template: str = "template1") -> PostgresUrls:
        self.drop(name)  # of an earlier run: the cluster stays
        for node in self.nodes:
            with self._session(node) as session:
                if template != "template1":
                    session.execute("SELECT pg_advisory_lock(0)")  # until the session ends: others copy it, too
                    session.execute(_NO_SESSIONS.format(template).encode())
                    session.execute(_END_SESSIONS.format(template).encode())
                session.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
                session.execute(f'ALTER DATABASE "{name}" SET citus.shard_count = 4'.encode())
        if template != "template1":
            return PostgresUrls(
                self.url(OWNER, self.owner_password, name), self.url(RUNTIME, self.runtime_password, name)
            )
        for node in self.nodes:
            with self._session(node, name) as session:
                session.execute("CREATE EXTENSION citus")
        coordinator, *workers = self.nodes
        with self._session(coordinator, name) as session:
            session.execute("SELECT citus_set_coordinator_host(%s, %s)", coordinator)
            for worker in workers:
                session.execute("SELECT citus_add_node(%s, %s)", worker)
        urls = self._with_roles(name)
        settings = (f"--set=owner={OWNER}", f"--set=runtime={RUNTIME}")
        superuser = self.url(SUPERUSER, self.superuser_password, name)
        command = [self.binary("psql"), "--quiet", "--no-psqlrc", "--file", str(SETUP), *settings, superuser]
        subprocess.run(command, check=True, capture_output=True)
        return urls

    def drop(self, name: str) -> None:
        for node in reversed(self.nodes):
            with self._session(node) as session:
                for is_last in (False, False, True):  # Citus's own session may be back before PostgreSQL has ended all
                    with suppress(*(() if is_last else (psycopg.errors.ObjectInUse,))):
                        session.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())
                        break

    def remove(self) -> None:
        """Leave the cluster as it is: others started it."""

    @contextmanager
    def _session(self, node: tuple[str, int], database: str = "postgres") -> Iterator[psycopg.Connection[Any]]:
        host, port = node
        url = f"postgresql://{SUPERUSER}:{self.superuser_password}@{host}:{port}/{database}"
        with psycopg.connect(url, autocommit=True) as session:
            yield session
