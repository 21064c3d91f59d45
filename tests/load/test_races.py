"""Many threads serve many sockets: each response goes to the client that asked, whole and in order, whatever others do meanwhile."""

import contextlib
import itertools
import random
import socket
import struct
import threading
import time
from collections.abc import Callable

import pytest

from tests.load.clients import Served, eventually, get, post, read_all, read_answer, status

CLIENTS = 8
SECONDS = 1.5
NOW = struct.pack("ii", 1, 0)
"""SO_LINGER: close with a reset."""


def together(work: Callable[[int], None]) -> None:
    """Run `work` in as many threads as there are clients; raise what one of them raises."""
    problems: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as problem:  # noqa: BLE001 - raised again below, in the test's own thread
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def test_short_connections_get_their_own_response(served: Served) -> None:
    """The system reuses the numbers of sockets at once: half of the clients reset their connection as soon as they have asked."""

    def ask(number: int) -> None:
        ends_at = time.monotonic() + SECONDS
        for turn in itertools.count():
            if time.monotonic() > ends_at:
                return
            token = f"{number}-{turn}"
            path = f"/environ/{token}" if turn % 3 else f"/memory/{token}"
            client = served.connect(get(path, "Connection: close"))
            if number % 2:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NOW)
            else:
                answer = read_all(client)
                assert answer.count(b"HTTP/1.1 200 OK") == 1
                assert f"/{token}".encode() in answer
            client.close()

    together(ask)
    assert served.get("/").endswith(b"ordinary")


def test_clients_that_leave_midway_do_no_harm(served: Served) -> None:
    """Some disconnect while their response of 30 MB is written, or half of their request is read; the others' arrive whole."""

    def ask(number: int) -> None:
        chance = random.Random(number)
        for turn in range(6):
            if number % 2:
                client = served.connect(get("/large") if turn % 2 else post("/length", b"x" * 500)[:-100])
                if turn % 2:
                    client.recv(chance.randrange(1, 200_000))
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NOW)
                client.close()
            else:
                body = bytes([97 + number]) * chance.randrange(1, 300_000)
                answer = served.ask(post("/echo", body, "Connection: close"))
                assert answer.partition(b"\r\n\r\n")[2] == body

    together(ask)
    assert served.get("/").endswith(b"ordinary")


def test_pipelined_requests_of_many_clients_stay_in_order(served: Served) -> None:
    def ask(number: int) -> None:
        for _ in range(15):
            paths = [
                f"/{kind}/{number}-{index}"
                for index, kind in enumerate(["memory", "environ", "memory", "memory", "environ"])
            ]
            with served.connect(b"".join(map(get, paths[:-1])) + get(paths[-1], "Connection: close")) as client:
                parts = read_all(client).split(b"HTTP/1.1 200 OK")[1:]
            assert len(parts) == len(paths)
            assert all(path.encode() in part for path, part in zip(paths, parts, strict=True))

    together(ask)


def test_evicted_connections_do_not_take_others_with_them(serving: Callable[..., Served]) -> None:
    """Silent clients come and are evicted, while others send one request after the other on theirs."""
    served = serving(limits={"connections": 12})
    silent = [served.connect() for _ in range(4)]
    time.sleep(1.1)

    def ask(number: int) -> None:
        if number >= CLIENTS - 2:
            for _ in range(10):
                silent.append(served.connect())
                time.sleep(0.05)
            return
        with served.connect() as client:
            for turn in range(100):
                client.sendall(get(f"/environ/{number}-{turn}"))
                assert f"/environ/{number}-{turn}".encode() in read_answer(client)

    together(ask)
    for client in silent:
        client.close()


@pytest.mark.parametrize(
    ("requested", "count"),
    [(post("/echo", b"~" * 900_000), 900_000), (get("/memory/large") * 30, 0), (get("/held") * 15, 0)],
    ids=["stream", "memory", "held"],
)
def test_slow_reader_gets_all_after_others(served: Served, requested: bytes, count: int) -> None:
    """What does not fit the socket is sent when the client reads, and the next response of that connection waits."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        client.connect((served.host, served.port))
        client.sendall(requested + get("/memory/last", "Connection: close"))
        time.sleep(0.3)
        for _ in range(5):
            assert served.get("/").endswith(b"ordinary")
        answer = read_all(client)
    assert answer.endswith(b"\r\n\r\n/memory/last")
    assert answer.count(b"~") == count
    assert answer.count(b"x" * 100_000) == (0 if count else 30)


def test_pages_are_answered_while_all_threads_but_one_write(serving: Callable[..., Served]) -> None:
    served = serving(threads=16, limits={"waiting": 30})
    busy = [served.connect(post("/slow/3.0", b"")) for _ in range(16)]
    for _ in range(20):
        assert served.get("/").endswith(b"ordinary")
        assert served.get("/memory/one").endswith(b"/memory/one")
    for client in busy:
        client.close()


def test_clients_that_read_nothing_hold_no_thread(serving: Callable[..., Served]) -> None:
    """A response that states its length is held, and its thread is free, although the client does not read."""
    served = serving(threads=2)
    lazy = []
    for _ in range(6):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect((served.host, served.port))
        client.sendall(get("/held") * 20)
        lazy.append(client)
    time.sleep(0.3)
    assert served.get("/").endswith(b"ordinary")
    for client in lazy:
        client.close()


def test_requests_after_the_last_one_are_not_read(served: Served) -> None:
    """What follows a request that ends the connection is no request: neither answered nor reported as malformed."""
    for ending in (get("/", "Connection: close"), b"GET / HTTP/1.0\r\nHost: acme.localhost\r\n\r\n"):
        with served.connect(ending + get("/memory/smuggled") + b"nonsense\r\n\r\n") as client:
            answer = read_answer(client)
            with contextlib.suppress(ConnectionResetError):
                answer += read_all(client)
        assert answer.count(b"HTTP/1.1") == 1
        assert b"smuggled" not in answer


def test_malformed_request_is_refused_after_those_before_it(served: Served) -> None:
    answer = served.ask(get("/") + get("/memory/one") + b"nonsense\r\n\r\n")
    assert [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:]] == [200, 200, 400]


def test_trailer_fields_are_not_fields_of_the_request(served: Served) -> None:
    head = b"POST /environ/ HTTP/1.1\r\nHost: acme.localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    head = head.replace(b"POST", b"GET")
    answer = served.ask(head + b"2\r\nhi\r\n0\r\nX-Forwarded-For: 10.0.0.1\r\nHost: globex.localhost\r\n\r\n")
    assert status(answer) == 200
    assert b"10.0.0.1" not in answer
    assert b"globex" not in answer


def test_half_closed_client_gets_its_response(served: Served) -> None:
    with served.connect(get("/slow/0.2")) as client:
        client.shutdown(socket.SHUT_WR)
        assert read_answer(client).endswith(b"slow but complete")


def test_too_many_pipelined_requests_close_the_connection(served: Served) -> None:
    with served.connect(get("/slow/0.1") * 40) as client, contextlib.suppress(ConnectionResetError):
        assert read_all(client) == b""
    assert eventually(lambda: served.get("/").endswith(b"ordinary"))
