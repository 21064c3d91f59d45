"""Requests read from bytes: in one way, however they arrive, and never in another way than a strict reference reads them."""

from collections.abc import Iterable
from typing import Final

import h11
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.kit.serving.http1.request_body import BodyBudget
from app.kit.serving.http1.request_reader import RequestReader
from app.kit.serving.server_limits import ServerLimits
from app.kit.serving.wsgi_environ import environ_of_connection

COMMON: Final = environ_of_connection(("127.0.0.1", 8000), ("127.0.0.1", 5000), is_one_of_many=False)
SEEDS: Final = (
    b"GET /a?b=c HTTP/1.1\r\nHost: acme.localhost\r\nCookie: a=b\r\n\r\n",
    b"POST /a HTTP/1.1\r\nHost: acme.localhost\r\nContent-Length: 11\r\n\r\nhello world",
    b"POST /a HTTP/1.1\r\nHost: acme.localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n",
    b"PUT /a HTTP/1.1\r\nHost: acme.localhost\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\n0\r\nX-A: b\r\n\r\n",
    b"GET http://globex.localhost:80/a HTTP/1.1\r\nHost: acme.localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
    b"POST /a HTTP/1.0\r\nHost: acme.localhost\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
)
PIECES: Final = (
    b"", b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b",", b";", b"0", b"1", b"5", b"a", b"\x00", b"\x0b", b"\xb2", b"_", b"-", b"+",
    b"0x", b"#", b"@", b"\\", b"chunked", b"gzip, ", b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"0\r\n\r\n", b"\r\n ",
    b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: identity\r\n", b"Content_Length: 5\r\n", b"Upgrade: h2c\r\n",
    b"Connection: close\r\n", b"Host: b\r\n", b"HTTP/1.0", b"HTTP/1.1", b"GET /hidden HTTP/1.1\r\nHost: b\r\n\r\n",
)  # fmt: skip
EDITS: Final = st.tuples(st.integers(0, 400), st.integers(0, 6), st.sampled_from(PIECES))
"""Where, how many bytes are cut out there, and what takes their place."""
MESSAGES: Final = st.tuples(st.lists(st.sampled_from(SEEDS), min_size=1, max_size=3), st.lists(EDITS, max_size=3))


def edited(message: tuple[list[bytes], list[tuple[int, int, bytes]]]) -> bytes:
    seeds, edits = message
    text = b"".join(seeds)
    for place, cut, piece in edits:
        at = place % (len(text) + 1)
        text = text[:at] + piece + text[at + cut :]
    return text


def read(parts: Iterable[bytes]) -> tuple[list[tuple[str, bytes]], bool]:
    """Return method and body of each request, and whether what follows is refused."""
    reader = RequestReader(COMMON, ServerLimits(), BodyBudget(1_000_000))
    for part in parts:
        reader.feed(part)
    requests = [(item.environ["REQUEST_METHOD"], item.environ["wsgi.input"].getvalue()) for item in reader.complete]
    return requests, reader.problem is not None


def read_by_reference(text: bytes) -> list[tuple[str, bytes]]:
    """Return the requests that h11 reads, up to the first refused one; it refuses the empty lines that are allowed before a request."""
    requests: list[tuple[str, bytes]] = []
    while text:
        if text.startswith(b"\r\n"):
            text = text[2:]
            continue
        connection = h11.Connection(h11.SERVER)
        connection.receive_data(text)
        method, body = "", b""
        try:
            while not isinstance(event := connection.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    return requests
                if isinstance(event, h11.Request):
                    method = event.method.decode()
                elif isinstance(event, h11.Data):
                    body += event.data
        except h11.RemoteProtocolError:
            return requests
        requests.append((method, body))
        text = connection.trailing_data[0]
    return requests


@given(MESSAGES)
@example(([SEEDS[2]], [(50, 0, b"gzip, ")]))
@settings(derandomize=True, max_examples=1500, deadline=None, database=None)
def test_framing_never_differs_from_the_reference(message: tuple[list[bytes], list[tuple[int, int, bytes]]]) -> None:
    text = edited(message)
    requests, _ = read([text])
    assert requests == read_by_reference(text)[: len(requests)]


@given(MESSAGES, st.integers(1, 7))
@settings(derandomize=True, max_examples=500, deadline=None, database=None)
def test_reading_does_not_depend_on_the_packets(
    message: tuple[list[bytes], list[tuple[int, int, bytes]]], size: int
) -> None:
    text = edited(message)
    complete = read([text])
    assert read(text[at : at + size] for at in range(0, len(text), size)) == complete
