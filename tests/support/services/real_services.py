"""Fixtures for the real PostgreSQL, Redis and Chromium. Import nothing from here: pytest loads it as a plugin.

The servers start when a test first asks for them, once for the whole run: with several pytest workers the first one starts
them, the rest find their addresses in a file, and the process that began the run stops them at its end.
"""

import fcntl
import itertools
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.support.services.citus import Citus
from tests.support.services.servers import Postgres, PostgresUrls, Redis, TestServer, program

FOLDER = pytest.StashKey[Path]()
_folder: Path | None = None
KINDS: dict[str, type[TestServer]] = {"postgres": Postgres, "redis": Redis, "citus": Citus, "commands": TestServer}
MAX_REDIS_DATABASES = 16


def pytest_configure(config: pytest.Config) -> None:
    global _folder  # noqa: PLW0603 - a process has one run
    worker_input = getattr(config, "workerinput", None)
    folder = worker_input["services"] if worker_input else tempfile.mkdtemp(prefix="gatehouse-tests-")
    config.stash[FOLDER] = _folder = Path(folder)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give each xdist worker the folder with the addresses of the shared servers."""
    node.workerinput["services"] = str(node.config.stash[FOLDER])


def pytest_unconfigure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or FOLDER not in config.stash:
        return
    for name, kind in KINDS.items():
        with suppress(FileNotFoundError):
            load(config.stash[FOLDER] / name, kind).remove()
    shutil.rmtree(config.stash[FOLDER], ignore_errors=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def load(path: Path, kind: type[TestServer]) -> TestServer:
    record = json.loads(path.read_text())
    return kind(**{**record, "folder": Path(record["folder"])})


def shared(name: str, create: Callable[[], TestServer]) -> Any:
    """Return the server of this run: started by the first worker that asks."""
    path = of_the_run(name, lambda part: part.write_text(json.dumps(asdict(create()), default=str)))
    return load(path, KINDS[name])


def of_the_run(name: str, make: Callable[[Path], object]) -> Path:
    """Return a file that the first worker who asks makes for all; it lies beside the addresses of the servers."""
    assert _folder is not None, "only a test run has one"
    path = _folder / name
    with locked(path.with_suffix(".lock")):
        if not path.exists():
            part = path.with_suffix(".part")
            make(part)
            part.rename(path)
    return path


def new_postgres() -> Postgres:
    """Start a PostgreSQL with an empty cluster."""
    return Postgres.create(of_the_run("initialized", Postgres.initialize))


def template(server: Postgres, name: str, migrate: Callable[[str], object]) -> str:
    """Return the name of a migrated database of the run's server, to be copied; the first worker who asks makes it."""

    def make(mark: Path) -> None:
        migrate(server.database(name).migrate_url)
        mark.touch()

    of_the_run(f"{name}.made", make)
    return name


def worker_number(config: pytest.Config) -> int:
    worker_input = getattr(config, "workerinput", None)
    return int(worker_input["workerid"].removeprefix("gw")) if worker_input else 0


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> Postgres:
    """The run's PostgreSQL, or the given Citus: shared, so make databases in it and leave it running."""
    url = request.config.getoption("--citus")
    server: Postgres = shared("citus", lambda: Citus.at(url)) if url else shared("postgres", new_postgres)
    return server


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest, postgres_server: Postgres) -> PostgresUrls:
    """One empty database for this worker: (migrate_url of the owner, runtime_url of the role that serves)."""
    with locked(
        request.config.stash[FOLDER] / "roles.lock"
    ):  # roles are the whole server's: two may not make them at once
        return postgres_server.database(f"gatehouse_{worker_number(request.config)}")


@pytest.fixture
def fresh_postgres(request: pytest.FixtureRequest, postgres_server: Postgres) -> Iterator[PostgresUrls]:
    """An empty database for one test alone."""
    name = f"fresh_{worker_number(request.config)}_{next(_NUMBERS)}"
    yield postgres_server.database(name)
    postgres_server.drop(name)


@pytest.fixture(scope="session")
def redis_server() -> Redis:
    """The run's Redis: shared, so leave it running and flush nothing but your own database."""
    server: Redis = shared("redis", Redis.create)
    return server


@pytest.fixture(scope="session")
def redis_url(request: pytest.FixtureRequest, redis_server: Redis) -> str:
    """A Redis database that this worker has to itself."""
    number = worker_number(request.config)
    assert number < MAX_REDIS_DATABASES, "more workers than Redis has databases"
    return redis_server.url(number)


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A PostgreSQL that the test may stop and start again."""
    server = new_postgres()
    yield server
    server.remove()


@pytest.fixture
def own_redis() -> Iterator[Redis]:
    """A Redis that the test may stop and start again."""
    server = Redis.create()
    yield server
    server.remove()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'gatehouse.db'}"


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The system's Chromium; Playwright drives it, so no browser is downloaded. Its headless shell takes half the CPU time."""
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return program("chromium")


_NUMBERS = itertools.count()
