"""Requests to systems that a tenant names: HTTPS alone counts by its certificate, and only the status of the answer must come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from time import monotonic
from typing import Any

import httpx
import pytest

from app.identity.platform.outbound.bounded_transport import BoundedTransport, Bounds, NoUsableAnswer
from app.kit.outbound.host_resolver import Resolver
from tests.support.fakes.https_receiver import (
    HttpsReceiver,
    foreign_certificate,
    https_receiver,
    server_context,
    trusted_certificate,
)

BOUNDS = Bounds(seconds=15, connect_seconds=5, max_bytes=4_096, truncates=True)
SHORT = Bounds(seconds=0.5, connect_seconds=0.5, max_bytes=4_096, truncates=True)
LOCAL = Resolver(["127.0.0.0/8"])


@pytest.fixture
def receiver() -> Iterator[HttpsReceiver]:
    with https_receiver() as server:
        yield server


def post(url: str, resolver: Resolver = LOCAL, bounds: Bounds = BOUNDS) -> httpx.Response:
    with httpx.Client(transport=BoundedTransport(resolver, bounds=bounds)) as client:
        return client.post(url, content=b"{}", headers={"X-Own": "value"})


def test_request_arrives_as_it_was_sent(receiver: HttpsReceiver) -> None:
    receiver.answers(202, b"taken")
    response = post(receiver.url("/hook?source=us"))

    assert (response.status_code, response.content) == (202, b"taken")
    (request,) = receiver.received
    assert (request.path, request.query, request.body) == ("/hook", {"source": "us"}, b"{}")
    assert request.headers["x-own"] == "value"


def test_long_answer_is_cut_off(receiver: HttpsReceiver) -> None:
    receiver.answers(200, b"x" * 10_000_000)

    assert len(post(receiver.url()).content) == BOUNDS.max_bytes


def test_packed_answer_is_left_unread(receiver: HttpsReceiver) -> None:
    receiver.answers(200, b"\x1f\x8b not what it says", {"Content-Encoding": "gzip"})
    response = post(receiver.url())

    assert (response.status_code, response.content) == (200, b"")


@pytest.mark.parametrize("misbehave", [HttpsReceiver.closes_mid_answer, HttpsReceiver.hangs_after_status])
def test_status_counts_without_rest_of_answer(
    receiver: HttpsReceiver, misbehave: Callable[[HttpsReceiver], None]
) -> None:
    misbehave(receiver)
    response = post(receiver.url(), bounds=SHORT)

    assert (response.status_code, response.content) == (200, b"begun")


def test_hanging_receiver_is_given_up(receiver: HttpsReceiver) -> None:
    receiver.hangs()
    began = monotonic()

    with pytest.raises(NoUsableAnswer, match=r"no complete answer within 0\.5 seconds"):
        post(receiver.url(), bounds=SHORT)
    assert monotonic() - began < 15, "the receiver hangs for a minute"


@pytest.mark.parametrize("content", [b"", b"no HTTP\r\n\r\n", b"HTTP/1.1 two hundred\r\n\r\n", b"X" * 1_000_000])
def test_answer_that_is_no_http_is_refused(receiver: HttpsReceiver, content: bytes) -> None:
    receiver.sends(content)

    with pytest.raises(NoUsableAnswer, match=r"isn’t HTTP|closed|more than"):
        post(receiver.url())


def test_interim_responses_without_end_are_refused(receiver: HttpsReceiver) -> None:
    """Else they take a processor until the deadline."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        with suppress(OSError):
            while True:
                handler.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)

    receiver.answer = answer

    with pytest.raises(NoUsableAnswer, match="more than 1000 kB"):
        post(receiver.url())


def test_redirect_is_not_followed(receiver: HttpsReceiver) -> None:
    receiver.answers(302, headers={"Location": receiver.url("/elsewhere")})

    assert post(receiver.url()).status_code == 302
    assert [request.path for request in receiver.received] == ["/hook"]


def test_changed_certificate_is_refused(receiver: HttpsReceiver) -> None:
    assert post(receiver.url()).status_code == 200
    for certificate in (foreign_certificate(), trusted_certificate("other.localhost")):
        receiver.context = server_context(certificate)

        with pytest.raises(NoUsableAnswer, match="a certificate that isn’t trusted: "):
            post(receiver.url())
    assert len(receiver.received) == 1


def test_changed_address_is_judged_anew(receiver: HttpsReceiver) -> None:
    """The name led to a public address when the webhook was made, and now leads into our own network."""
    judged: list[str] = []

    def resolve(host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        judged.append(host)
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    for _ in range(2):
        with pytest.raises(NoUsableAnswer, match="not public"):
            post(f"https://receiver.example:{receiver.port}/hook", Resolver((), resolve))
    assert judged == ["receiver.example"] * 2
    assert receiver.received == []
