"""HTTP to providers of identities: bounded in time and size, without redirects, and to this machine where the name says so.

A name below `localhost` is this machine for browsers (RFC 6761 section 6.3), and not for every system: so it is here.
"""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Condition
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from pydantic_core import from_json

from app.contract.connections import is_local
from app.identity.providers.social import ProviderUnavailable
from app.kit.clock import monotonic

SECONDS: Final = 5.0
MOST_BYTES: Final = 256_000
_PATIENCE_SECONDS: Final = 1.0  # for those who ask before
_HIDDEN: Final = frozenset({"content-encoding", "content-length", "transfer-encoding", "set-cookie"})


class Unbelievable(httpx.TransportError):
    """The answer is too long, too slow, or packed although nobody asked for that."""


class Slots:
    """How many requests are under way: a provider that hangs must hold neither every thread of the server, nor what others need."""

    def __init__(self, in_all: int, each: int) -> None:
        self._in_all, self._each = in_all, each
        self._busy: Counter[str] = Counter()
        self._changed = Condition()

    @contextmanager
    def one(self, request: httpx.Request) -> Iterator[None]:
        """Hold one while a request is under way. Raises Unbelievable where none gets free."""
        host = request.url.netloc.decode()
        with self._changed:
            if not self._changed.wait_for(lambda: self._is_free(host), _PATIENCE_SECONDS):
                raise Unbelievable("too many requests wait for providers", request=request)
            self._busy[host] += 1
        try:
            yield
        finally:
            with self._changed:
                self._busy -= Counter([host])  # which forgets who has none
                self._changed.notify_all()

    def _is_free(self, host: str) -> bool:
        return self._busy[host] < self._each and self._busy.total() < self._in_all


SLOTS = Slots(in_all=24, each=8)


class Bounded(httpx.BaseTransport):
    """Sends one request, and returns an answer that is read to its end."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with SLOTS.one(request):
            return _sent(request)


def _sent(request: httpx.Request) -> httpx.Response:
    until, is_ours = monotonic() + SECONDS, is_local(str(request.url))
    if request.url.host.endswith(".localhost"):
        request.extensions["sni_hostname"] = request.url.host
        request.url = request.url.copy_with(host="127.0.0.1")  # the Host header is made already
    request.extensions["timeout"] = httpx.Timeout(SECONDS).as_dict()
    request.headers["Accept-Encoding"] = "identity"
    with httpx.Client(verify=_tls(), follow_redirects=False, trust_env=not is_ours) as client:
        answer = client.send(request, stream=True)
        try:
            content = _content(answer, until)
        finally:
            answer.close()
    return httpx.Response(answer.status_code, headers=_headers(answer), content=content, request=request)


def _content(answer: httpx.Response, until: float) -> bytes:
    content = b""
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise Unbelievable("a packed answer", request=answer.request)
    for part in answer.iter_raw():
        content += part
        if len(content) > MOST_BYTES or monotonic() > until:
            raise Unbelievable("the provider talks too long", request=answer.request)
    return content


def _headers(answer: httpx.Response) -> list[tuple[str, str]]:
    return [(name, value) for name, value in answer.headers.multi_items() if name.lower() not in _HIDDEN]


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def read(url: str, token: str | None = None) -> Any:
    """Return the JSON that is there, for whoever holds the token. Raises ProviderUnavailable."""
    headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    place = urlsplit(url).netloc
    try:
        with httpx.Client(transport=Bounded()) as client:
            answer = client.get(url, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as problem:  # its text may bear the address
        raise ProviderUnavailable(f"{place} did not answer: {type(problem).__name__}") from None
    if answer.status_code != httpx.codes.OK:
        raise ProviderUnavailable(f"{place} answered {answer.status_code}")
    try:
        return from_json(answer.content)
    except ValueError:
        raise ProviderUnavailable(f"{place} answered no JSON") from None


def read_object(url: str, token: str | None = None) -> dict[str, Any]:
    """Return the JSON object that is there. Raises ProviderUnavailable."""
    members = read(url, token)
    if not isinstance(members, dict):
        raise ProviderUnavailable(f"{urlsplit(url).netloc} answered no JSON object")
    return members
