"""Slow clients and too many clients: others are served meanwhile, and every request gets a response."""

import re
import select
import signal
import socket
import time
from collections.abc import Callable

import pytest

from tests.load.clients import PATIENCE_SECONDS, Served, eventually, get, post, read_all, read_answer, status

SLOW_CLIENTS = 60  # `make bench` opens 200
HALF_HEAD = b"GET / HTTP/1.1\r\nHost: acme.localhost\r\nX-Slow: a"
HALF_BODY = b"POST /length HTTP/1.1\r\nHost: acme.localhost\r\nContent-Length: 1000\r\n\r\nhalf"


def is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(100) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("half", [HALF_HEAD, HALF_BODY, b""], ids=["heads", "bodies", "silence"])
def test_slow_clients_do_not_block_ordinary_requests(serving: Callable[..., Served], half: bytes) -> None:
    served = serving(threads=2)
    slow = [served.connect(half) for _ in range(SLOW_CLIENTS)]
    for _ in range(20):
        for client in slow:
            client.sendall(half and b"a")
        assert served.get("/").endswith(b"ordinary")
    for client in slow:
        client.close()


def test_unfinished_head_times_out(serving: Callable[..., Served]) -> None:
    served = serving(limits={"head_seconds": 0.5})
    with served.connect(HALF_HEAD) as client:
        client.settimeout(0.1)
        answer = b""

        def is_timed_out() -> bool:
            nonlocal answer
            try:
                client.sendall(b"a")  # single bytes do not extend the timeout
                answer += client.recv(65536)
            except TimeoutError:
                return False
            except OSError:
                pass
            return True

        assert eventually(is_timed_out)
    assert status(answer) == 408


def test_silent_connection_is_closed_without_response(serving: Callable[..., Served]) -> None:
    served = serving(limits={"head_seconds": 0.5})
    assert served.ask(b"") == b""


def test_second_head_on_connection_has_its_own_timeout(serving: Callable[..., Served]) -> None:
    served = serving(limits={"head_seconds": 1.0})
    with served.connect(get("/") + HALF_HEAD) as client:
        assert read_answer(client).endswith(b"ordinary")
        assert status(read_all(client)) == 408


def test_unfinished_body_times_out(serving: Callable[..., Served]) -> None:
    served = serving(limits={"body_seconds": 0.5})
    with served.connect(HALF_BODY) as client:
        answer = read_answer(client)
        assert status(answer) == 408
        assert b"connection: close" in answer


@pytest.mark.parametrize("framing", ["Content-Length: 3000000", "Transfer-Encoding: chunked"])
def test_oversized_body_gets_413_of_application(served: Served, framing: str) -> None:
    body = b"2dc6c0\r\n" + b"x" * 3_000_000 + b"\r\n0\r\n\r\n" if "chunked" in framing else b"x" * 3_000_000
    answer = served.ask(f"POST /length HTTP/1.1\r\nHost: acme.localhost\r\n{framing}\r\n\r\n".encode() + body)
    assert status(answer) == 413
    assert b"exceeds the capacity limit" in answer  # werkzeug's error page, which the application may replace


def test_oversized_body_is_refused_before_it_is_sent(served: Served) -> None:
    request = post("/length", b"", "Expect: 100-continue").replace(b"Content-Length: 0", b"Content-Length: 10000000")
    with served.connect(request) as client:
        assert status(read_answer(client)) == 413


CHUNKED_HEAD = (
    b"POST /length HTTP/1.1\r\nHost: acme.localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
)


@pytest.mark.parametrize("opening", [b"5;extension=", b"1\r\nx\r\n0\r\nTrailer: "], ids=["extension", "trailer"])
def test_endless_framing_of_a_body_is_refused(served: Served, opening: bytes) -> None:
    answer = served.ask(CHUNKED_HEAD + opening + b"a" * 400_000)
    assert status(answer) == 400


def test_body_in_chunks_of_one_byte_is_read(served: Served) -> None:
    assert served.ask(CHUNKED_HEAD + b"1\r\nx\r\n" * 200_000 + b"0\r\n\r\n").endswith(b"200000")


def test_configured_path_accepts_larger_body(serving: Callable[..., Served]) -> None:
    served = serving(limits={"body_bytes": 1000, "body_bytes_under": {"/length": 5000}})
    assert served.ask(post("/length", b"x" * 4000, "Connection: close")).endswith(b"4000")
    assert status(served.ask(post("/length", b"x" * 6000))) == 413


def test_body_memory_is_bounded_over_all_clients(serving: Callable[..., Served]) -> None:
    served = serving(limits={"held_body_bytes": 150_000})
    incomplete = post("/length", b"x" * 100_000)[:-1]
    with served.connect(incomplete) as first, served.connect(incomplete) as second:
        refused = select.select([first, second], [], [], PATIENCE_SECONDS)[0][0]
        other = second if refused is first else first
        assert status(read_answer(refused)) == 503
        other.sendall(b"x")
        assert read_answer(other).endswith(b"100000")


def test_oversized_head_is_refused(served: Served) -> None:
    assert status(served.get("/", "X-Large: " + "x" * 40_000)) == 431
    assert status(served.get("/", *(f"X-{number}: x" for number in range(200)))) == 431
    assert status(served.get("/", "X-Large: " + "x" * 20_000)) == 200


def test_endless_head_is_refused_while_it_grows(served: Served) -> None:
    with served.connect(HALF_HEAD) as client:
        for _ in range(8):
            client.sendall(b"x" * 5000)
        assert status(read_all(client)) == 431


def test_full_queue_gets_503_with_retry_after(serving: Callable[..., Served]) -> None:
    served = serving(threads=1, limits={"waiting": 3, "retry_after_seconds": 7})
    clients = [served.connect(get("/slow/0.5", "Connection: close")) for _ in range(12)]
    answers = [read_all(client) for client in clients]
    refused = [answer for answer in answers if status(answer) == 503]
    assert 3 <= len(answers) - len(refused) <= 6  # one running, three queued; one less or more by order of arrival
    assert all(b"retry-after: 7" in answer for answer in refused)
    assert served.get("/").endswith(b"ordinary")


def test_pages_are_answered_while_other_requests_wait(serving: Callable[..., Served]) -> None:
    served = serving(threads=4, limits={"waiting": 30})
    waiting = [served.connect(post("/slow/3.0", b"")) for _ in range(20)]
    assert served.get("/").endswith(b"ordinary")
    assert select.select(waiting, [], [], 0)[0] == []  # none was answered before
    for client in waiting:
        client.close()


def test_other_requests_beside_pages_complete(serving: Callable[..., Served]) -> None:
    served = serving(threads=4)
    clients = [served.connect(post("/slow/0.1", b"", "Connection: close")) for _ in range(12)]
    assert all(read_all(client).endswith(b"slow but complete") for client in clients)


def test_hashing_in_many_threads_keeps_memory_of_one(serving: Callable[..., Served]) -> None:
    served = serving(threads=16)
    clients = [served.connect(post("/hash", b"", "Connection: close")) for _ in range(48)]
    assert all(status(read_all(client)) == 200 for client in clients)
    assert (
        int(served.get("/memory").rpartition(b"\n")[2]) < 150_000
    )  # KiB; 12 threads with a heap each keep 19,456 more


def test_refused_request_closes_its_connection(serving: Callable[..., Served]) -> None:
    served = serving(threads=1, limits={"waiting": 1})
    clients = [served.connect(get("/slow/15.0")) for _ in range(6)]

    def answered() -> list[socket.socket]:
        return select.select(clients, [], [], 0)[0]

    assert eventually(lambda: len(answered()) >= 3)  # one running, one queued; one more or less by order of arrival
    refused = answered()
    assert {status(read_all(client)) for client in refused} == {503}  # and closed
    assert set(answered()) < set(clients)  # before the first request was finished
    for client in clients:
        client.close()


def test_request_of_a_disconnected_client_is_skipped(serving: Callable[..., Served]) -> None:
    served = serving(threads=1, limits={"waiting": 100})
    for _ in range(50):
        served.connect(get("/slow/1.0")).close()
    assert served.get("/").endswith(b"ordinary")  # within PATIENCE_SECONDS: fifty seconds of work were dropped


def test_new_client_replaces_waiting_one(serving: Callable[..., Served]) -> None:
    served = serving(limits={"connections": 5, "head_seconds": 3600})
    slow = [served.connect(HALF_HEAD) for _ in range(5)]

    def is_replaced() -> bool:
        """Only the limit closes a slow client; the first new one may be served while the fifth is still being accepted."""
        return status(served.get("/")) == 200 and bool(select.select(slow, [], [], 0)[0])

    assert eventually(is_replaced)
    assert is_closed(select.select(slow, [], [], 0)[0][0])
    for client in slow:
        client.close()


def test_connections_over_the_limit_get_503(serving: Callable[..., Served]) -> None:
    served = serving(threads=8, limits={"connections": 5})
    busy = [served.connect(get("/slow/1.0", "Connection: close")) for _ in range(5)]
    answer = served.get("/")
    assert status(answer) == 503
    assert b"retry-after:" in answer
    assert [status(read_all(client)) for client in busy] == [200] * 5


def test_client_that_stops_reading_is_disconnected(serving: Callable[..., Served]) -> None:
    served = serving(limits={"send_seconds": 0.5})
    with socket.create_connection((served.host, served.port)) as client:
        client.sendall(get("/large"))
        client.settimeout(20)

        def is_disconnected() -> bool:
            """Send without reading: a closed connection answers with a reset."""
            try:
                client.sendall(b"\r\n")
            except OSError:
                return True
            return False

        assert eventually(is_disconnected)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_reserved_path_is_answered_while_threads_hang(serving: Callable[..., Served], method: str) -> None:
    served = serving(threads=4, reserved_paths=["/"], limits={"waiting": 30})
    ask = get if method == "GET" else lambda path: post(path, b"")
    hanging = [served.connect(ask("/slow/6.0")) for _ in range(20)]
    assert all(served.get("/").endswith(b"ordinary") for _ in range(3))
    assert select.select(hanging, [], [], 0)[0] == []  # none was answered before
    for client in hanging:
        client.close()


def test_server_refusals_have_request_ids(serving: Callable[..., Served]) -> None:
    served = serving(threads=1, limits={"head_seconds": 0.3, "held_body_bytes": 1000})
    requests = [b"GET / HTTP/1.1\r\n\r\n", b"nonsense\r\n\r\n", get("/")[:-2], post("/length", b"x" * 2000)]
    answers = [served.ask(request) for request in requests]
    assert [status(answer) for answer in answers] == [400, 400, 408, 503]
    ids = [re.findall(rb"x-request-id: ([A-Z-]{14})\r\n", answer) for answer in answers]
    assert all(len(found) == 1 for found in ids)
    assert len({found[0] for found in ids}) == len(ids)


def test_server_refusals_are_counted_by_reason(serving: Callable[..., Served]) -> None:
    limits = {"head_seconds": 0.3, "held_body_bytes": 1000, "waiting": 1}
    served = serving(threads=1, limits=limits)
    assert status(served.ask(b"GET / HTTP/1.1\r\n\r\n")) == 400
    assert status(served.ask(b"nonsense\r\n\r\n")) == 400
    assert status(served.get("/", f"X-Long: {'x' * 40_000}")) == 431
    assert status(served.ask(get("/")[:-2])) == 408
    assert status(served.ask(post("/length", b"x" * 2000))) == 503
    with served.connect(get("/slow/1.5")) as busy:
        time.sleep(0.3)
        with served.connect(get("/")) as waiting:
            time.sleep(0.3)
            assert status(served.get("/")) == 503
            assert status(read_answer(waiting)) == 200
        assert status(read_answer(busy)) == 200
    served.signal(signal.SIGTERM)
    served.wait()
    reasons = [line.removeprefix("refused ") for line in served.output if line.startswith("refused ")]
    assert reasons == [
        "host 400", "malformed 400", "large_head 431", "slow_head 408", "bodies 503", "threads 503",
    ]  # fmt: skip
