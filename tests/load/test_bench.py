"""The benchmark reads forms like a browser and counts only the server's CPU time."""

import sys
from collections.abc import Iterator
from email.message import Message
from http.client import HTTPMessage

import pytest

from tools.bench import measurement
from tools.bench.measurement import Budget, Spent, measure
from tools.bench.servers import BenchServer, free_port
from tools.bench.table import printed
from tools.bench.visitor import BenchVisitor, MeasuredResponse, Unexpected, form_of, linked_from

PAGE = b"""<link rel="stylesheet" href="/static/a.css"><link rel="icon" href="data:image/svg+xml,x"><script src="/static/b.js"></script>
<form action="/search"><input name="q"></form>
<form method="post" action="/login?attempt=1"><input type="hidden" name="csrf" value="c">
<input name="email" type="email" autocomplete="username webauthn">
<input name="password" type="password" autocomplete="current-password"></form>"""


def a_page(body: bytes) -> MeasuredResponse:
    return MeasuredResponse("/login", 200, HTTPMessage(), body)


def test_form_is_found_by_field_and_filled_by_meaning() -> None:
    form = form_of(a_page(PAGE), "current-password")
    assert form.action == "/login?attempt=1"
    assert form.with_values(username="ada", current_password="x") == {"csrf": "c", "email": "ada", "password": "x"}


def test_page_without_the_form_is_not_measured() -> None:
    with pytest.raises(Unexpected, match="no form"):
        form_of(a_page(b"<p>Down for maintenance</p>"), "current-password")


def test_inline_resources_are_not_fetched() -> None:
    assert linked_from(a_page(PAGE)) == ["/static/a.css", "/static/b.js"]


@pytest.mark.parametrize(
    ("cpu_ms", "counts", "verdict"),
    [
        (1.0, {"sql": 2}, "aim reached"),
        (3.0, {"sql": 2}, "within the bar"),
        (5.0, {"sql": 2}, "OVER THE BAR"),
        (1.0, {"sql": 3}, "OVER THE BAR"),
        (1.0, {}, "aim reached"),
    ],
)
def test_line_is_compared_with_limit_and_aim(cpu_ms: float, counts: dict[str, float], verdict: str) -> None:
    line = Spent(cpu_ms, 1.0, counts).line("userinfo", Budget(bar=4, aim=2, counts={"sql": 2}))
    assert verdict in printed([line])


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BenchServer]:
    port = free_port()
    log = tmp_path_factory.mktemp("bench") / "bare.log"
    server = BenchServer.start([sys.executable, "-m", "tools.bench.bare", f"127.0.0.1:{port}"], port, log)
    yield server
    server.stop()


def test_cpu_time_excludes_the_client(bare: BenchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "TURN_SECONDS", 0.2)
    visitor = BenchVisitor(bare.port, "bare.localhost")

    def three_times(_: int) -> None:
        for _ in range(3):
            visitor.get("/")

    spent = measure(bare, bare, three_times, views=300)
    visitor.close()
    assert 1.5 < spent.ratio < 8  # three bare views cost about three bare views


def test_memory_is_within_range_of_a_python_process(bare: BenchServer) -> None:
    assert 10 < bare.memory_mb() < 500


def test_costs_are_summed_over_responses() -> None:
    visitor = BenchVisitor(1, "bare.localhost")
    headers: Message = HTTPMessage()
    headers["X-Gatehouse-Cost"] = "api=2; sql=5; commits=1; hashes=1; signatures=0"
    assert isinstance(headers, HTTPMessage)
    for _ in range(2):
        visitor.take(MeasuredResponse("/", 200, headers, b""))
    assert visitor.costs == {"api": 4, "sql": 10, "commits": 2, "hashes": 2, "signatures": 0}
