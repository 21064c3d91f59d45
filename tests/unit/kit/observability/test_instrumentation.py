"""Instrumentation for operators: probes, one log line per request, metrics with few labels."""

import json
import logging
import re
import socket
import threading
import urllib.request
from collections.abc import Iterable
from functools import partial
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from werkzeug.test import Client

from app import factories
from app.commands.server_metrics import surface_of
from app.commands.serving import application
from app.identity.assembly import health
from app.identity.platform.store import migrate
from app.kit.limits.queue_slot import WsgiApp
from app.kit.observability.health import Health
from app.kit.observability.instrumentation import Instrumented
from app.kit.observability.logs import bind, bound
from app.kit.observability.metrics import Exposition, request_metrics
from app.kit.web.proxies import Proxies
from app.settings import Settings
from tests.support.services.servers import RUNTIME, Postgres, Redis


def services(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    start_response("418 I'm a teapot", [("Content-Type", "text/plain")])
    return [environ["PATH_INFO"].encode()]


def down() -> None:
    raise OSError("postgresql://runtime:s3cret@db is gone")


def fine() -> None:
    return


def test_process_is_live_while_dependencies_are_down() -> None:
    answer = Client(Health(services, {"database": down})).get("/health/live")
    assert (answer.status_code, answer.json) == (200, {"status": "ok"})


def test_failed_dependency_is_named_without_details_and_unready() -> None:
    answer = Client(Health(services, {"database": down, "redis": fine})).get("/health/ready")
    assert (answer.status_code, answer.json) == (
        503,
        {"status": "unavailable", "parts": {"database": "down", "redis": "ok"}},
    )


def test_hanging_dependency_is_down_and_keeps_one_thread() -> None:
    released = threading.Event()

    def hangs() -> None:
        released.wait(60)

    client = Client(Health(services, {"database": hangs, "redis": fine}))
    requested: list[object] = []
    probes = [threading.Thread(target=lambda: requested.append(client.get("/health/ready").json)) for _ in range(5)]
    for probe in probes:
        probe.start()
    for probe in probes:
        probe.join(20)
    assert requested == [{"status": "unavailable", "parts": {"database": "down", "redis": "ok"}}] * 5
    (check,) = [thread for thread in threading.enumerate() if thread.name == "health-database"]
    released.set()
    check.join(20)  # a probe that comes before its end shares its outcome
    assert client.get("/health/ready").status_code == 200


def test_other_paths_reach_the_application() -> None:
    assert Client(Health(services, {})).get("/health").status_code == 418
    assert Client(Health(services, {})).get("/health/live/more").status_code == 418


def test_migrated_store_is_ready_and_an_empty_one_is_not(sqlite_url: str) -> None:
    settings = Settings(database_url=sqlite_url, secrets=(b"0" * 32,))
    client = Client(Health(services, health.checks(settings)))
    assert client.get("/health/ready").status_code == 503
    migrate.upgrade(sqlite_url)
    assert client.get("/health/ready").status_code == 200


def test_process_is_not_ready_before_all_of_its_code_is_loaded(sqlite_url: str) -> None:
    migrate.upgrade(sqlite_url)
    app = application(Settings(database_url=sqlite_url, secrets=(b"0" * 32,), hub_domain="localhost:8000"), "both")
    client = Client(app)
    starting = client.get("/health/ready")
    assert (starting.status_code, starting.json) == (503, {"status": "starting", "parts": {"database": "ok"}})
    assert client.get("/health/live").json == {"status": "ok"}
    app.load()
    assert client.get("/health/ready").json == {"status": "ok", "parts": {"database": "ok"}}


def test_process_whose_code_cannot_be_loaded_never_gets_ready(monkeypatch: pytest.MonkeyPatch, sqlite_url: str) -> None:
    def broken() -> None:
        raise LookupError("operations without a handler: one")

    migrate.upgrade(sqlite_url)
    monkeypatch.setattr(factories, "create_identity", lambda _: WsgiApp(services, load=broken))
    app = application(Settings(database_url=sqlite_url, secrets=(b"0" * 32,)), "identity")
    for _ in range(2):
        with pytest.raises(LookupError):
            app.load()
        assert Client(app).get("/health/ready").json == {"status": "starting", "parts": {"database": "ok"}}


def test_database_outage_and_recovery_are_seen_at_once(own_postgres: Postgres) -> None:
    urls = own_postgres.database("gatehouse")
    migrate.upgrade(urls.migrate_url, runtime_role=RUNTIME)
    url = urls.runtime_url.replace("postgresql://", "postgresql+psycopg://")
    client = Client(Health(services, health.checks(Settings(database_url=url, secrets=(b"0" * 32,)))))
    assert client.get("/health/ready").status_code == 200
    own_postgres.stop()
    assert client.get("/health/ready").status_code == 503
    own_postgres.start()
    assert client.get("/health/ready").status_code == 200


def test_redis_outage_and_recovery_are_seen(sqlite_url: str, own_redis: Redis) -> None:
    migrate.upgrade(sqlite_url)
    settings = Settings(database_url=sqlite_url, redis_url=own_redis.url(), secrets=(b"0" * 32,))
    client = Client(Health(services, health.checks(settings)))
    assert client.get("/health/ready").status_code == 200
    own_redis.stop()
    assert client.get("/health/ready").json == {"status": "unavailable", "parts": {"database": "ok", "redis": "down"}}
    own_redis.start()
    assert client.get("/health/ready").status_code == 200


def test_request_is_logged_in_one_line_without_its_query(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="gatehouse.access"):
        Client(Instrumented(services)).get("/x?apikey=S3CRET&access_token=S3CRET", base_url="http://acme.localhost")
    (line,) = caplog.records
    assert (line.__dict__["path"], line.__dict__["status"], line.__dict__["host"]) == ("/x", 418, "acme.localhost")
    assert "S3CRET" not in str(line.__dict__)


def test_broken_request_is_measured_as_500() -> None:
    def broken(_environ: WSGIEnvironment, _start: StartResponse) -> Iterable[bytes]:
        raise RuntimeError

    measured: list[tuple[str, str, int, float]] = []
    with pytest.raises(RuntimeError):
        Client(Instrumented(broken, (lambda *facts: measured.append(facts),))).get("/")
    assert measured[0][2] == 500


def test_metrics_have_their_own_port_and_bounded_labels() -> None:
    client = Client(
        Instrumented(services, (request_metrics(partial(surface_of, Settings(api_host="api.localhost:8000"))),))
    )
    client.get("/invented-path", base_url="http://invented-host.localhost:8000")
    client.open("/", method="INVENTED", base_url="http://api.localhost:8000")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    stop = threading.Event()
    thread = threading.Thread(target=Exposition(f"127.0.0.1:{port}"), args=(stop,))
    thread.start()
    try:
        text = fetched(port)
    finally:
        stop.set()
        thread.join()
    assert 'gatehouse_requests_total{method="GET",status="418",surface="tenant"} 1.0' in text
    assert 'method="other",status="418",surface="api"' in text
    assert "nvented" not in text.lower()


def fetched(port: int) -> str:
    for _ in range(100):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                return str(answer.read().decode())
        except OSError:
            threading.Event().wait(0.05)
    raise AssertionError("no metrics")


def test_probe_answers_with_json() -> None:
    assert json.loads(Client(Health(services, {"a": fine})).get("/health/ready").data)["parts"] == {"a": "ok"}


def test_response_and_log_line_share_one_request_id(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "gatehouse.access"):
        answers = [Client(Instrumented(services)).get("/") for _ in range(2)]
    first, second = (answer.headers["X-Request-Id"] for answer in answers)
    assert first != second
    assert re.fullmatch(r"[B-Z]{4}-[B-Z]{4}-[B-Z]{4}", second)
    assert bound("request_id") == second


def test_log_fields_of_a_request_end_with_it() -> None:
    bind(refused="sign_in.refused")
    Client(Instrumented(services)).get("/")
    assert bound("refused") == ""


@pytest.mark.parametrize(
    ("sent", "peer", "is_taken"),
    [
        ("0af7651916cd43dd8448eb211c80319c", "10.0.0.9", True),
        ("from.a-proxy_1", "10.0.0.9", True),
        ("0af7651916cd43dd8448eb211c80319c", "10.0.1.9", False),
        ("short", "10.0.0.9", False),
        ("x" * 65, "10.0.0.9", False),
        ("two words of it", "10.0.0.9", False),
        ('"><script>alert(1)', "10.0.0.9", False),
        ("id\u00e9-of-a-request", "10.0.0.9", False),
    ],
)
def test_valid_request_id_of_a_trusted_proxy_is_retained(sent: str, peer: str, is_taken: bool) -> None:
    client = Client(Instrumented(services, proxies=Proxies.of(["10.0.0.0/24"])))
    answer = client.get("/", environ_overrides={"REMOTE_ADDR": peer, "HTTP_X_REQUEST_ID": sent})
    assert (answer.headers["X-Request-Id"] == sent) is is_taken
