"""A real PgBouncer in transaction mode before the tests' PostgreSQL."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.support.services.servers import OWNER, RUNTIME, Postgres, TestServer, program, unprivileged

CONFIGURATION = """
[databases]
* = host=127.0.0.1 port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {server_connections}
max_client_conn = 200
"""


@dataclass
class PgBouncer(TestServer):
    """Hands each transaction to one of few server connections."""

    @contextmanager
    def before(self, postgres: Postgres, server_connections: int = 3) -> Iterator[PgBouncer]:
        users = {RUNTIME: postgres.runtime_password, OWNER: postgres.owner_password}
        facts = {"port": postgres.port, "own_port": self.port, "folder": self.folder}
        (self.folder / "ini").write_text(CONFIGURATION.format(**facts, server_connections=server_connections))
        (self.folder / "users").write_text("".join(f'"{name}" "{word}"\n' for name, word in users.items()))
        if owner := unprivileged():
            for path in (self.folder, *self.folder.iterdir()):
                shutil.chown(path, owner["user"], owner["group"])
        runtime = f"postgresql://{RUNTIME}:{postgres.runtime_password}@127.0.0.1:{self.port}/postgres"

        def ready() -> None:
            psycopg.connect(runtime, connect_timeout=2).close()

        try:
            command = [program("pgbouncer", "usr/sbin"), str(self.folder / "ini")]
            self.launch(command, ready, psycopg.OperationalError, **owner)
            yield self
        finally:
            self.remove()

    def url(self, direct: str, port: int) -> str:
        """The same database, through PgBouncer."""
        return direct.replace(f":{port}/", f":{self.port}/")


def pgbouncer() -> PgBouncer:
    return PgBouncer(Path(tempfile.mkdtemp(prefix="gatehouse-pgbouncer-", dir="/tmp")))
