"""The services of API and page tests: on SQLite and on PostgreSQL, migrated, with costs shown. pytest loads it as a plugin."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher, Type
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_der_private_key
from segno import encoder
from sqlalchemy.pool import QueuePool

from app.contract.tenants.settings import Argon2
from app.identity import create_services
from app.identity.credentials.passwords import hashing
from app.identity.directory.tenants.keys.signing_algorithms import new_rsa_key
from app.identity.directory.tenants.keys.signing_keys import StoredSigningKeys
from app.identity.platform import saml_certificates
from app.identity.platform.services import IdentityServices
from app.identity.platform.store import database, migrate
from app.identity.platform.store.database import Database
from app.kit.clock import Clock, FixedClock, SystemClock
from app.kit.limits.rate_limits import RateLimits
from app.kit.limits.shared_store import SharedStore
from app.settings import Settings
from tests.support.services.real_services import of_the_run, template, worker_number
from tests.support.services.servers import RUNTIME, Postgres, PostgresUrls

NOWHERE = "http://127.0.0.1:9"
CHEAP = Argon2(memory_kib=8192, iterations=1)
"""The least that a tenant may state, which most tests' tenants do."""
SECRET = b"a secret of the tests, long enough to be one"


_NUMBERS = count()


@cache
def hasher(parameters: Argon2) -> PasswordHasher:
    """Real argon2id; where the least or nothing is stated, with little memory: nearly every test hashes, and few ask what that takes."""
    is_cheap = parameters in (CHEAP, Argon2()) and "TIMINGS" not in os.environ
    memory = 64 if is_cheap else parameters.memory_kib
    return PasswordHasher(parameters.iterations, memory, parameters.parallelism, type=Type.ID)


hashing._hasher = hasher
database.SYNCHRONOUS = (
    "normal"  # as with PostgreSQL's fsync: no test cuts the power, and a commit takes a few hundred times as long
)


_masked: Callable[..., Any] = encoder.find_and_apply_best_mask


def _with_first_mask(matrix: Any, width: Any, height: Any, mask: Any = None) -> Any:
    """Mask a QR code by the first pattern: it is as readable, and to compare all eight takes 5 of the 7 ms of making one."""
    return _masked(matrix, width, height, mask or 0)


encoder.find_and_apply_best_mask = _with_first_mask


class MovableClock(SystemClock):
    """The machine's clock, which a test may put forward."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead

    def advance(self, **by: float) -> None:
        """Move on by a `timedelta`'s keywords."""
        self.ahead += timedelta(**by)


class SinceMidnight:
    """A clock that began at midnight and goes with another one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._begun = clock.now()

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + (self._clock.now() - self._begun)


def limits_of_a_test(services: IdentityServices) -> RateLimits:
    """Limits that no window divides: one begins at each multiple of its length, and a test across that could ask for more."""
    address = services.settings.redis_url
    return RateLimits(SharedStore(address) if address else None, SinceMidnight(services.clock))


def pass_time(services: IdentityServices, **by: float) -> None:
    """Put the services' clock forward by a `timedelta`'s keywords."""
    assert isinstance(services.clock, MovableClock | FixedClock)
    services.clock.advance(**by)


def reset(clock: Clock) -> None:
    """Put a moved clock back: years ahead, what other tests sent or signed would be due or expired."""
    if isinstance(clock, MovableClock):
        clock.ahead = timedelta()


def keys_in_turn(name: str, new_key: Callable[[], RSAPrivateKey], number: int) -> Iterator[RSAPrivateKey]:
    """Real keys, each used again after `number` others: making one takes longer than most tests, and a test has few tenants.

    All workers share them.
    """

    def make(path: Path) -> None:
        path.write_bytes(new_key().private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))

    made: list[RSAPrivateKey] = []
    while len(made) < number:
        stored = of_the_run(f"{name}-{len(made)}.key", make).read_bytes()
        key = load_der_private_key(stored, None, unsafe_skip_rsa_key_validation=True)  # which takes 36 ms
        assert isinstance(key, RSAPrivateKey)
        made.append(key)
        yield key
    yield from cycle(made)


KEYS = keys_in_turn("signing", new_rsa_key, 12)
saml_certificates.new_private_key = keys_in_turn("saml", saml_certificates.new_private_key, 3).__next__


def make_services(settings: Settings) -> IdentityServices:
    """The services of a process, whose clock may be moved."""
    made = create_services(settings, MovableClock())
    made.limits = limits_of_a_test(made)
    made.signing_keys = StoredSigningKeys(made.encryption, made.clock, KEYS.__next__)
    pool = made.database.engine.pool
    if isinstance(pool, QueuePool):
        pool._timeout = 30.0  # of fifty racers ten wait for a connection; on a slow machine longer than a request may
    return made


def served(settings: Settings) -> Iterator[IdentityServices]:
    """Give the services of a process over a migrated database."""
    made = make_services(settings)
    yield made
    made.database.dispose()


def shared_settings(folder: Path) -> Settings:
    # A worker of any test may find the pushes of all.
    return Settings(data_dir=folder, secrets=(SECRET,), shows_cost=True, push_url=NOWHERE)


@pytest.fixture(scope="session")
def sqlite_services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IdentityServices]:
    """The services over the SQLite database that tests share."""
    settings = shared_settings(tmp_path_factory.mktemp("services"))
    shutil.copy(migrated_sqlite(), settings.data_dir / "gatehouse.db")
    yield from served(settings)


@pytest.fixture(scope="session")
def postgres_services(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[IdentityServices]:
    """The services over the PostgreSQL database that tests share."""
    settings = shared_settings(tmp_path_factory.mktemp("services"))
    with copy_of_postgres(request) as urls:
        yield from served(
            replace(
                settings,
                database_url=over_psycopg(urls.runtime_url),
                migrate_url=over_psycopg(urls.migrate_url),
            )
        )


def over_psycopg(url: str) -> str:
    """Return the URL for SQLAlchemy. A slow machine may take long to connect fifty racers; that is no hanging server."""
    return url.replace("postgresql://", "postgresql+psycopg://") + "?connect_timeout=30"


@pytest.fixture(params=["sqlite", "postgres"])
def services(request: pytest.FixtureRequest) -> Iterator[IdentityServices]:
    """The services of one process over one database; tests keep apart by tenants of their own.

    What a test replaces in them (the settings, a server to ask) is put back after it, and so is the clock. A test marked `database_alone`
    gets an empty database of its own: a test that works through all of it, as cleaning and delivery do, would take what every other
    test left.
    """
    if request.node.get_closest_marker("database_alone") is None:
        shared: IdentityServices = request.getfixturevalue(f"{request.param}_services")
        former = dict(vars(shared))
        shared.limits = limits_of_a_test(shared)
        yield shared
        vars(shared).update(former)
        reset(shared.clock)
        return
    folder: Path = request.getfixturevalue("tmp_path")  # thousands of tests need none
    with empty_database(request, folder) as database:
        settings = replace(shared_settings(folder), database_url=database.url)
        made = make_services(settings)
        yield made
        made.database.dispose()


# A refusal before any query is the same on every database: such a test runs on one. Whatever reaches the store
# (tenants kept apart, races, hostile values, SQL) is asked on both. Values that foreign browsers or tools see are hostile, too.
before_the_store = on_one_database = pytest.mark.parametrize("services", ["sqlite"], indirect=True)


def migrated_sqlite() -> Path:
    """Return a migrated SQLite database to copy, which all workers share."""
    return of_the_run("migrated.db", lambda path: migrate.upgrade(f"sqlite:///{path}"))


@pytest.fixture(scope="session")
def migrated_file() -> Path:
    """A migrated SQLite database to copy."""
    return migrated_sqlite()


@pytest.fixture(scope="session")
def migrated_postgres(postgres_server: Postgres) -> str:
    """The name of a migrated PostgreSQL database to copy, which all workers share."""
    return template(postgres_server, "migrated", lambda url: migrate.upgrade(url, runtime_role=RUNTIME))


@contextmanager
def copy_of_postgres(request: pytest.FixtureRequest) -> Iterator[PostgresUrls]:
    """Give a copy of a migrated PostgreSQL database, with nothing in it."""
    server: Postgres = request.getfixturevalue("postgres_server")
    name = f"own_{worker_number(request.config)}_{next(_NUMBERS)}"
    yield server.database(name, request.getfixturevalue("migrated_postgres"))
    server.drop(name)


@pytest.fixture
def copied_postgres(request: pytest.FixtureRequest) -> Iterator[PostgresUrls]:
    """A PostgreSQL database of the test alone, as it serves."""
    with copy_of_postgres(request) as urls:
        yield urls


@contextmanager
def empty_database(request: pytest.FixtureRequest, folder: Path) -> Iterator[Database]:
    """Give a migrated database of the kind that the fixture's parameter names, with nothing in it."""
    if request.param == "sqlite":
        copied = shutil.copy(request.getfixturevalue("migrated_file"), folder / "gatehouse.db")
        made = Database(f"sqlite:///{copied}")
        yield made
        made.dispose()
        return
    with copy_of_postgres(request) as urls:
        made = Database(over_psycopg(urls.runtime_url))
        yield made
        made.dispose()


@pytest.fixture(params=["sqlite", "postgres"])
def own_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database of the test alone, as it serves: migrated, and nothing in it."""
    with empty_database(request, tmp_path) as made:
        yield made


@pytest.fixture
def own_services(own_database: Database) -> Iterator[IdentityServices]:
    """The services of a process over a database of the test alone."""
    made = make_services(Settings(database_url=own_database.url, secrets=(SECRET,), shows_cost=True))
    yield made
    made.database.dispose()
