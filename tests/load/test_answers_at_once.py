"""Answers in memory: sent without a thread of their own, within the same bounds as all others (decision 0368)."""

import select
import signal
import socket
import time
from collections.abc import Callable
from http import HTTPStatus

import pytest

from app.kit.serving.connection_registry import EVICTABLE_SECONDS
from tests.load.clients import PATIENCE_SECONDS, Served, eventually, get, post, read_all, read_answer, status

BUSY = 3


def test_answer_from_memory_needs_no_thread(serving: Callable[..., Served]) -> None:
    served = serving(threads=1, limits={"waiting": BUSY})
    busy = [
        served.connect(get("/slow/30")) for _ in range(BUSY + 2)
    ]  # one runs, three wait, and one is refused, whichever
    refused = select.select(busy, [], [], PATIENCE_SECONDS)[0]
    assert [status(client.recv(65536)) for client in refused] == [HTTPStatus.SERVICE_UNAVAILABLE]
    assert status(served.get("/")) == HTTPStatus.SERVICE_UNAVAILABLE
    answer = served.get("/memory/one")
    assert status(answer) == HTTPStatus.OK
    assert answer.endswith(b"\r\n\r\n/memory/one")
    assert b"\r\nx-memory: yes\r\n" in answer
    assert status(served.get("/health/live")) == HTTPStatus.OK
    for client in busy:
        client.close()


def test_connection_mixes_answers_from_memory_and_others(served: Served) -> None:
    with served.connect() as client:
        for sent, end in (
            (get("/memory/first"), b"/memory/first"),
            (get("/"), b"ordinary"),
            (get("/memory/again"), b"/memory/again"),
            (post("/length", b"hello"), b"5"),
            (get("/memory/last"), b"/memory/last"),
        ):
            client.sendall(sent)
            assert read_answer(client).endswith(end)


def test_answer_from_memory_waits_for_the_one_before_it(served: Served) -> None:
    with served.connect(get("/slow/0.2") + get("/memory/one") + get("/", "Connection: close")) as client:
        answers = read_all(client)
    assert answers.count(b"HTTP/1.1 200") == 3
    assert answers.index(b"slow but complete") < answers.index(b"/memory/one") < answers.index(b"ordinary")


def test_many_answers_on_one_connection_are_in_order(served: Served) -> None:
    paths = [f"/memory/{number}" for number in range(30)]
    with served.connect(b"".join(map(get, paths)) + get("/memory/end", "Connection: close")) as client:
        answers = read_all(client)
    assert [part.split(b"HTTP/1.1")[0].decode() for part in answers.split(b"\r\n\r\n")[1:]] == [*paths, "/memory/end"]


@pytest.mark.parametrize("split", range(1, 60, 7))
def test_head_in_two_parts_is_answered(served: Served, split: int) -> None:
    request = get("/memory/one", "Connection: close")
    with served.connect(request[:split]) as client:
        time.sleep(0.05)
        client.sendall(request[split:])
        assert read_all(client).endswith(b"/memory/one")


def test_connection_closes_as_the_client_wants(served: Served) -> None:
    assert b"\r\nconnection: close\r\n" in served.get("/memory/one")
    answer = served.ask(b"GET /memory/one HTTP/1.0\r\nHost: acme.localhost\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"/memory/one")


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (b"GET /memory/one HTTP/1.1\r\n\r\n", 400),
        (get("/memory/one", "Host: globex.localhost"), 400),
        (get("/memory/one", "X-Large: " + "x" * 40_000), 431),
        (get("/memory/one", *[f"X-{number}: 1" for number in range(120)]), 431),
        (b"HEAD /memory/one HTTP/1.1\r\nHost: acme.localhost\r\nConnection: close\r\n\r\n", 200),
    ],
    ids=["no host", "two hosts", "large head", "many fields", "HEAD"],
)
def test_refusals_stand_before_answers_from_memory(served: Served, request_: bytes, expected: int) -> None:
    answer = served.ask(request_.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
    assert status(answer) == expected
    assert b"\r\nx-memory" not in answer


@pytest.mark.parametrize("path", ["/memory/raise", "/memory/broken"])
def test_failure_at_once_is_a_500_and_closes(served: Served, path: str) -> None:
    with served.connect(get(path)) as client:
        answer = read_all(client)
    assert status(answer) == HTTPStatus.INTERNAL_SERVER_ERROR
    assert b"x-broken" not in answer
    assert b"\r\nx-request-id: " in answer
    assert served.get("/").endswith(b"ordinary")


def test_client_that_does_not_read_is_not_written_to_without_end(serving: Callable[..., Served]) -> None:
    """Of a burst that the client does not read, the answers that fit the buffers are written; the rest wait, and too many are dropped."""
    served = serving(limits={"send_seconds": 1})
    before = int(served.get("/memory").rpartition(b"\r\n")[2])
    clients = [served.connect(get("/memory/large") * 16) for _ in range(20)]
    for client in clients:
        client.sendall(get("/memory/large") * 200)
    assert served.get("/").endswith(b"ordinary")
    assert int(served.get("/memory").rpartition(b"\r\n")[2]) < before + 60_000, "kB; all answers would be 430 MB"
    for client in clients:
        client.close()


def test_idle_connection_ends_after_keep_alive(serving: Callable[..., Served]) -> None:
    served = serving(limits={"keep_alive_seconds": 1})
    with served.connect(get("/memory/one")) as client:
        assert read_answer(client).endswith(b"/memory/one")
        assert client.recv(100) == b""


def test_open_connection_is_closed_by_the_drain(served: Served) -> None:
    with served.connect(get("/memory/one")) as client, served.connect(get("/slow/1")) as slow:
        assert read_answer(client).endswith(b"/memory/one")
        time.sleep(0.3)
        served.signal(signal.SIGTERM)
        time.sleep(0.05)
        client.sendall(get("/memory/two"))
        answer = read_all(client)
        assert answer.endswith(b"/memory/two") or b"\r\nconnection: close\r\n" in answer
        assert read_all(slow).endswith(b"slow but complete")
    assert served.wait() == 0


def test_full_connections_evict_idle_ones_after_answers(serving: Callable[..., Served]) -> None:
    served = serving(limits={"connections": 3, "keep_alive_seconds": 3600})
    idle = []
    for _ in range(3):
        idle.append(served.connect(get("/memory/one")))
        assert read_answer(idle[-1]).endswith(b"/memory/one")
        time.sleep(0.2)  # a busy server notes an idle connection a little after its answer
    time.sleep(EVICTABLE_SECONDS)  # of all three

    def closed() -> list[socket.socket]:
        return select.select(idle, [], [], 0)[0]

    assert eventually(lambda: served.get("/memory/two").endswith(b"/memory/two") and bool(closed()))
    evicted = closed()
    assert evicted == [idle[0]], "the connection that was idle longest"
    assert evicted[0].recv(100) == b""
    for client in idle:
        client.close()
