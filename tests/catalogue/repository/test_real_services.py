"""Tests run on real PostgreSQL and Redis, set up as in production, and the outside network is closed."""

import socket
import ssl
from collections.abc import Callable

import psycopg
import pytest
import redis

from tests.support.plugins.network import NetworkClosed
from tests.support.services.servers import Postgres, PostgresUrls, Redis


def test_runtime_role_owns_nothing_and_obeys_row_security(fresh_postgres: PostgresUrls) -> None:
    with psycopg.connect(fresh_postgres.migrate_url) as owner:
        owner.execute("CREATE TABLE note (tenant_id text PRIMARY KEY)")
        owner.execute("ALTER TABLE note ENABLE ROW LEVEL SECURITY")
        owner.execute("ALTER TABLE note FORCE ROW LEVEL SECURITY")
        owner.execute("CREATE POLICY own ON note USING (tenant_id = current_setting('gatehouse.tenant', true))")
    with psycopg.connect(fresh_postgres.runtime_url) as runtime:
        runtime.execute("SELECT set_config('gatehouse.tenant', 'acme', true)")
        runtime.execute("INSERT INTO note VALUES ('acme')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), runtime.transaction():
            runtime.execute("INSERT INTO note VALUES ('globex')")
        runtime.execute("SELECT set_config('gatehouse.tenant', 'globex', true)")
        assert runtime.execute("SELECT * FROM note").fetchall() == []
        for forbidden in (
            "DROP TABLE note",
            "CREATE TABLE other (id int)",
            "ALTER TABLE note DISABLE ROW LEVEL SECURITY",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), runtime.transaction():
                runtime.execute(forbidden.encode())


def test_redis_answers(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.ping()


def test_own_redis_stops_and_starts_again(own_redis: Redis) -> None:
    own_redis.stop()
    with pytest.raises(redis.ConnectionError):
        own_redis.ping()
    own_redis.start()
    own_redis.ping()


def test_own_postgres_stops_and_starts_again(own_postgres: Postgres) -> None:
    own_postgres.stop()
    with pytest.raises(psycopg.OperationalError):
        own_postgres.execute("SELECT 1")
    own_postgres.start()
    own_postgres.execute("SELECT 1")


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("2001:db8::1", 80), ("example.com", 443)])
def test_outside_network_is_closed(address: tuple[str, int]) -> None:
    with pytest.raises(NetworkClosed):
        socket.create_connection(address, timeout=1)


OUTSIDE = ("192.0.2.1", 80)


def reach_over_tls(item: socket.socket) -> None:
    with ssl.create_default_context().wrap_socket(item, server_hostname="example.com") as wrapped:
        wrapped.connect(OUTSIDE)


@pytest.mark.parametrize(
    "reach",
    [
        lambda item: item.connect(OUTSIDE),
        lambda item: item.connect_ex(OUTSIDE),
        lambda item: item.sendto(b"x", OUTSIDE),
        lambda item: item.sendto(b"x", 0, OUTSIDE),
        lambda item: item.sendmsg([b"x"], [], 0, OUTSIDE),
        reach_over_tls,
    ],
    ids=["connect", "connect_ex", "sendto", "sendto with flags", "sendmsg", "TLS"],
)
def test_no_socket_leaves_this_machine(
    reach: Callable[[socket.socket], object], request: pytest.FixtureRequest
) -> None:
    kind = socket.SOCK_DGRAM if "send" in request.node.callspec.id else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as item, pytest.raises(NetworkClosed):
        reach(item)


def test_names_under_localhost_resolve_to_this_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("acme.localhost", port), timeout=5) as connection:
            assert connection.getpeername() == ("127.0.0.1", port)
