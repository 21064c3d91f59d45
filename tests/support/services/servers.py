"""A real PostgreSQL and a real Redis for the tests: started in a folder of their own, stopped by process id."""

import base64
import hashlib
import hmac
import os
import pwd
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import redis

ROLES = Path(__file__).resolve().parents[3] / "deploy" / "postgres-roles.sql"
SUPERUSER = "postgres"
OWNER = "gatehouse_owner"
RUNTIME = "gatehouse_runtime"
BACKUP = "gatehouse_backup"
PATIENCE_SECONDS = 60
NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""What httpx takes as `verify` for `http:` addresses. It trusts none; else each client reads the machine's authorities, for 50 ms."""

# Durability is what a test database does not need; everything else is as shipped.
POSTGRES_OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
}


def scram_secret(password: str) -> str:
    """Return what PostgreSQL stores of a password, made with one round: with the default of 4,096 each connection takes 7 ms longer.

    A connection is still refused without the password (RFC 5803).
    """
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 1)
    client_key, server_key = (hmac.digest(salted, name, "sha256") for name in (b"Client Key", b"Server Key"))
    shown = (base64.b64encode(item).decode() for item in (salt, hashlib.sha256(client_key).digest(), server_key))
    return "SCRAM-SHA-256$1:{}${}:{}".format(*shown)


class PartMissing(Exception):
    """A real part of the tests cannot be had; tests never go on without it."""


class PostgresUrls(NamedTuple):
    """One database: `migrate_url` for the owner of its tables, `runtime_url` for the role that serves."""

    migrate_url: str
    runtime_url: str


def program(name: str, *folders: str) -> str:
    """The path of a program, or a loud failure that says how to get it."""
    candidates = [
        shutil.which(name),
        *(str(path) for folder in folders for path in sorted(Path("/").glob(folder + "/" + name))),
    ]
    found = [path for path in candidates if path and Path(path).is_file()]
    if not found:
        raise PartMissing(f"{name} is not installed, and the tests run against the real one: 'make test' installs it.")
    return found[-1]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def wait_until(
    ready: Callable[[], object], errors: type[Exception], process: subprocess.Popen[bytes], log: Path
) -> None:
    """Return once `ready()` no longer raises; fail with the server's own log when it died or never came."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            ready()
            return
        except errors:
            if process.poll() is not None or time.monotonic() > deadline:
                raise PartMissing(f"the server did not come up:\n{log.read_text(errors='replace')[-4000:]}") from None
            time.sleep(0.02)


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one of our own is reaped on the way, else it would linger."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    return not Path(f"/proc/{pid}").exists()


def end(pid: int, how: int) -> None:
    """End a server by its id and wait until it is gone; a server that is gone already is fine."""
    with suppress(ProcessLookupError):
        os.kill(pid, how)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_gone(pid) and time.monotonic() < deadline:
        time.sleep(0.01)


@dataclass
class TestServer:
    """A server process in a folder; `start` and `stop` may follow one another, on the same port."""

    folder: Path
    port: int = field(default_factory=free_port)
    pid: int | None = None

    def stop(self) -> None:
        if self.pid is not None:
            end(self.pid, self.stop_signal)
            self.pid = None

    def freeze(self) -> None:
        """Stop every process of the server (SIGSTOP): the kernel still takes bytes for it, and nothing is answered."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        assert self.pid is not None
        os.kill(self.pid, number)  # the parent first: it forks no more
        for child in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(child), number)

    def remove(self) -> None:
        if self.pid is not None:
            with suppress(ProcessLookupError):
                self.thaw()
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    stop_signal = signal.SIGTERM

    def launch(self, command: list[str], ready: Callable[[], object], errors: type[Exception], **how: Any) -> None:
        log = self.folder / "server.log"
        with log.open("ab") as out:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.folder, **how
            )
        self.pid = process.pid
        wait_until(ready, errors, process, log)
        _PROCESSES.append(process)


# Popen complains when it is forgotten while its process runs, and another worker may stop it.
_PROCESSES: list[subprocess.Popen[bytes]] = []


@dataclass
class Postgres(TestServer):
    superuser_password: str = field(default_factory=lambda: secrets.token_hex(16))
    owner_password: str = field(default_factory=lambda: secrets.token_hex(16))
    runtime_password: str = field(default_factory=lambda: secrets.token_hex(16))

    # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients.
    stop_signal = signal.SIGINT

    @classmethod
    def create(cls, initialized: Path | None = None) -> "Postgres":
        """Start a copy of an initialized cluster; without one, make it (a second)."""
        if initialized is None:
            with tempfile.TemporaryDirectory() as folder:
                return cls.create(cls.initialize(Path(folder) / "initialized"))
        password = (initialized / "password").read_text()
        server = cls(Path(tempfile.mkdtemp(prefix="gatehouse-pg-", dir="/tmp")), superuser_password=password)
        try:
            if owner := unprivileged():
                shutil.chown(server.folder, owner["user"], owner["group"])
            subprocess.run(["cp", "--archive", str(initialized / "cluster"), "."], cwd=server.folder, check=True)
            server.start()
            server.execute(f"ALTER ROLE {SUPERUSER} PASSWORD '{scram_secret(server.superuser_password)}'")
        except BaseException:
            server.remove()
            raise
        return server

    @classmethod
    def initialize(cls, folder: Path) -> Path:
        """Make a cluster to copy, beside the password of its superuser: a copy costs a tenth of it."""
        server = cls(Path(tempfile.mkdtemp(prefix="gatehouse-pg-", dir="/tmp")))  # which PostgreSQL's user may enter
        try:
            server._initialize()
            shutil.move(server.folder, folder)
        finally:
            server.remove()
        return folder

    def _initialize(self) -> None:
        password_file = self.folder / "password"
        password_file.write_text(self.superuser_password)
        if owner := unprivileged():
            for path in (self.folder, password_file):
                shutil.chown(path, owner["user"], owner["group"])
        subprocess.run(
            [
                self.binary("initdb"), "--pgdata", "cluster", "--username", SUPERUSER, "--pwfile", str(password_file), "--no-sync",
                "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C.UTF-8",
            ],
            cwd=self.folder, check=True, capture_output=True, **owner,
        )  # fmt: skip

    def start(self) -> None:
        options = [part for name, value in POSTGRES_OPTIONS.items() for part in ("-c", f"{name}={value}")]
        command = [self.binary("postgres"), "-D", "cluster", "-p", str(self.port), *options]
        self.launch(command, lambda: self.execute("SELECT 1"), psycopg.OperationalError, **unprivileged())

    def standby(self) -> "Postgres":
        """Start a copy that follows this server and takes no writes until it is promoted."""
        copy = type(self)(
            Path(tempfile.mkdtemp(prefix="gatehouse-pg-", dir="/tmp")),
            superuser_password=self.superuser_password,
            owner_password=self.owner_password,
            runtime_password=self.runtime_password,
        )
        if owner := unprivileged():
            shutil.chown(copy.folder, owner["user"], owner["group"])
        source = self.url(SUPERUSER, self.superuser_password, "postgres")
        base = [
            self.binary("pg_basebackup"),
            "--pgdata",
            "cluster",
            "--write-recovery-conf",
            "--checkpoint=fast",
            "--no-sync",
        ]
        try:
            subprocess.run([*base, "--dbname", source], cwd=copy.folder, check=True, capture_output=True, **owner)
            copy.start()
        except BaseException:
            copy.remove()
            raise
        return copy

    def binary(self, name: str) -> str:
        return program(name, "usr/lib/postgresql/*/bin")

    def url(self, user: str, password: str, database: str) -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run one statement as superuser, outside any transaction."""
        with psycopg.connect(self.url(SUPERUSER, self.superuser_password, database), autocommit=True) as connection:
            connection.execute(statement.encode())

    def value(self, statement: str, database: str = "postgres") -> Any:
        """Return the first value of a statement's first row, asked as superuser."""
        with psycopg.connect(self.url(SUPERUSER, self.superuser_password, database), autocommit=True) as connection:
            row = connection.execute(statement.encode()).fetchone()
            return row[0] if row else None

    def database(self, name: str, template: str = "template1") -> PostgresUrls:
        """Make an empty database with both roles, or a copy of `template` (without connections)."""
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self._with_roles(name)

    def _with_roles(self, name: str) -> PostgresUrls:
        """Create the roles in an existing database, as an operator does, and return their addresses."""
        names = {"owner": OWNER, "runtime": RUNTIME} | self._role_secrets()
        with psycopg.connect(self.url(SUPERUSER, self.superuser_password, "postgres")) as one_at_a_time:
            one_at_a_time.execute("SELECT pg_advisory_lock(1)")  # the roles are the cluster's, and workers share it
            subprocess.run(
                [
                    self.binary("psql"), "--quiet", "--no-psqlrc", "--file", str(ROLES),
                    *(f"--set={key}={value}" for key, value in names.items()),
                    self.url(SUPERUSER, self.superuser_password, name),
                ],
                check=True, capture_output=True,
            )  # fmt: skip
        return PostgresUrls(self.url(OWNER, self.owner_password, name), self.url(RUNTIME, self.runtime_password, name))

    def _role_secrets(self) -> dict[str, str]:
        return {
            "owner_password": scram_secret(self.owner_password),
            "runtime_password": scram_secret(self.runtime_password),
        }

    def backup_url(self, database: str) -> str:
        """Create the backup role in an existing database, as an operator does, and return its address."""
        word = self.runtime_password
        names = {"owner": OWNER, "runtime": RUNTIME, "backup": BACKUP, "backup_password": scram_secret(word)}
        names |= self._role_secrets()
        settings = [f"--set={key}={value}" for key, value in names.items()]
        superuser = self.url(SUPERUSER, self.superuser_password, database)
        command = [self.binary("psql"), "--quiet", "--no-psqlrc", "--file", str(ROLES), *settings, superuser]
        subprocess.run(command, check=True, capture_output=True)
        return self.url(BACKUP, word, database)

    def drop(self, name: str) -> None:
        self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@dataclass
class Redis(TestServer):
    @classmethod
    def create(cls) -> "Redis":
        server = cls(Path(tempfile.mkdtemp(prefix="gatehouse-redis-", dir="/tmp")))
        try:
            server.start()
        except BaseException:
            server.remove()
            raise
        return server

    def start(self) -> None:
        options = {"bind": "127.0.0.1", "port": str(self.port), "save": "", "appendonly": "no", "dir": str(self.folder)}
        command = [program("redis-server"), *(part for name, value in options.items() for part in ("--" + name, value))]
        self.launch(command, self.ping, redis.RedisError)

    def ping(self) -> None:
        with redis.Redis.from_url(self.url()) as client:
            client.ping()

    def url(self, database: int = 0) -> str:
        return f"redis://127.0.0.1:{self.port}/{database}"


def unprivileged() -> dict[str, Any]:
    """How to start what refuses to run as root: as Debian's `postgres`, or as `nobody`; other users stay as they are."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            account = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    raise PartMissing(
        "PostgreSQL does not run as root, and there is neither a 'postgres' nor a 'nobody' account to run it as."
    )
