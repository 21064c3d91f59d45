"""HTTP to identity providers: bounded in time and size, without redirects, to public and allowed addresses only.

Tenants say where providers are, and providers where their endpoints are. So the address of each is judged when it is
connected to, and the address that was judged is the one that is connected to: a name that changes its mind (DNS
rebinding) gains nothing.
"""

from __future__ import annotations

import ssl
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Condition
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from pydantic_core import from_json

from app.kit.clock import monotonic
from app.kit.proxies import is_local
from app.kit.public_addresses import AddressRefused, Resolver

TIMEOUT_SECONDS: Final = 5.0
MAX_BYTES: Final = 256_000
_PATIENCE_SECONDS: Final = 1.0  # for those who ask before
_HIDDEN: Final = frozenset({"content-encoding", "content-length", "transfer-encoding", "set-cookie"})


class ProviderUnavailable(Exception):
    """The provider does not answer, does not know our client, or answers what cannot be believed. The text goes to the log."""


class InvalidResponse(httpx.TransportError):
    """The answer is too long, too slow, or packed although nobody asked for that."""


class RequestSlots:
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
                raise InvalidResponse("too many requests wait for providers", request=request)
            self._busy[host] += 1
        try:
            yield
        finally:
            with self._changed:
                self._busy -= Counter([host])  # which forgets who has none
                self._changed.notify_all()

    def _is_free(self, host: str) -> bool:
        return self._busy[host] < self._each and self._busy.total() < self._in_all


SLOTS = RequestSlots(in_all=24, each=8)


class BoundedTransport(httpx.BaseTransport):
    """Sends one request, and returns an answer that is read to its end. Raises httpx.HTTPError."""

    def __init__(self, resolver: Resolver) -> None:
        self._resolver = resolver

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with SLOTS.one(request):
            return self._sent(request)

    def _sent(self, request: httpx.Request) -> httpx.Response:
        until, proxy = monotonic() + TIMEOUT_SECONDS, _proxy_for(request.url)
        request.extensions["timeout"] = httpx.Timeout(TIMEOUT_SECONDS).as_dict()
        request.headers["Accept-Encoding"] = "identity"
        with httpx.Client(verify=_tls(), follow_redirects=False, trust_env=False, proxy=proxy) as client:
            answer = self._by_proxy(client, request) if proxy else self._connected(client, request)
            try:
                content = _content(answer, until)
            finally:
                answer.close()
        return httpx.Response(answer.status_code, headers=_headers(answer), content=content, request=request)

    def _by_proxy(self, client: httpx.Client, request: httpx.Request) -> httpx.Response:
        try:
            self._resolver.judge_number(request.url.host)
        except AddressRefused as refused:
            raise InvalidResponse(str(refused), request=request) from None
        return client.send(request, stream=True)

    def _connected(self, client: httpx.Client, request: httpx.Request) -> httpx.Response:
        """Send to one of the judged addresses. TLS is still held to the name, and the Host header is made already."""
        url = request.url
        try:
            places = self._resolver.addresses(url.host, url.port or (443 if url.scheme == "https" else 80))
        except AddressRefused as refused:
            raise InvalidResponse(str(refused), request=request) from None
        request.extensions["sni_hostname"] = url.host
        for place in places[:-1]:
            request.url = url.copy_with(host=place)
            try:
                return client.send(request, stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        request.url = url.copy_with(host=places[-1])
        return client.send(request, stream=True)


def _proxy_for(url: httpx.URL) -> str | None:
    """Return the proxy that the operator's environment names for an address. It resolves names itself, and judges them itself;
    numbers are judged here."""
    if is_local(url.host) or urllib.request.proxy_bypass(url.host):
        return None
    named = urllib.request.getproxies()
    return named.get(url.scheme) or named.get("all")


def _content(answer: httpx.Response, until: float) -> bytes:
    content = b""
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise InvalidResponse("a packed answer", request=answer.request)
    for part in answer.iter_raw():
        content += part
        if len(content) > MAX_BYTES or monotonic() > until:
            raise InvalidResponse("the provider talks too long", request=answer.request)
    return content


def _headers(answer: httpx.Response) -> list[tuple[str, str]]:
    return [(name, value) for name, value in answer.headers.multi_items() if name.lower() not in _HIDDEN]


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def get_json(resolver: Resolver, url: str, token: str | None = None) -> Any:
    """Return the JSON that is there, for whoever holds the token. Raises ProviderUnavailable."""
    headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    place = urlsplit(url).netloc
    try:
        with httpx.Client(transport=BoundedTransport(resolver)) as client:
            answer = client.get(url, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as problem:  # its text may bear the address
        raise ProviderUnavailable(f"{place} did not answer: {type(problem).__name__}") from None
    if answer.status_code != httpx.codes.OK:
        raise ProviderUnavailable(f"{place} answered {answer.status_code}")
    try:
        return from_json(answer.content)
    except ValueError:
        raise ProviderUnavailable(f"{place} answered no JSON") from None


def get_json_object(resolver: Resolver, url: str, token: str | None = None) -> dict[str, Any]:
    """Return the JSON object that is there. Raises ProviderUnavailable."""
    members = get_json(resolver, url, token)
    if not isinstance(members, dict):
        raise ProviderUnavailable(f"{urlsplit(url).netloc} answered no JSON object")
    return members
