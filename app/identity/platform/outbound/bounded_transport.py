"""The transport of requests to addresses that tenants name: bounded in time and size, to public and allowed addresses only."""

from __future__ import annotations

import ssl
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from threading import Condition
from typing import Final

import httpx

from app.identity.platform.outbound import unusable_answers
from app.identity.platform.outbound.deadlines import Deadline, DeadlineTransport
from app.identity.platform.outbound.unusable_answers import UnusableAnswer
from app.kit.outbound.host_resolver import AddressRefused, Resolver
from app.kit.web.proxies import is_local

TIMEOUT_SECONDS: Final = 5.0
MAX_BYTES: Final = 256_000
_SLOT_WAIT_SECONDS: Final = 1.0
OWNER: Final = "owner"
"""The extension of a request with the id of the tenant that it is for."""
_HIDDEN: Final = frozenset({"content-encoding", "content-length", "transfer-encoding", "set-cookie"})


class NoUsableAnswer(httpx.TransportError):
    """No answer came, or one that is too long, or compressed although we did not accept that. The text says so in plain words."""

    def __init__(self, answer: UnusableAnswer, request: httpx.Request) -> None:
        super().__init__(answer.received, request=request)
        self.answer = answer


def answer_of(problem: Exception) -> UnusableAnswer:
    """Return what happened, for an exception of a client with a BoundedTransport; else than the transport's, the client's own."""
    if isinstance(problem, NoUsableAnswer):
        return problem.answer
    return unusable_answers.of_exception(problem, seconds=TIMEOUT_SECONDS, connect_seconds=TIMEOUT_SECONDS)


class RequestSlots:
    """Limits concurrent requests in total and per host, so that a hanging provider cannot block all threads.

    With `per_owner`, those of one owner too, whom the request's extension OWNER names: one with many hosts leaves slots to others.
    """

    def __init__(self, total: int, per_host: int, per_owner: int | None = None) -> None:
        self._total, self._per_host, self.per_owner = total, per_host, per_owner or total
        self._in_progress: Counter[str] = Counter()
        self._by_owner: Counter[str] = Counter()
        self._changed = Condition()

    @contextmanager
    def acquire(self, request: httpx.Request) -> Iterator[None]:
        """Occupy a slot during a request. Raises NoUsableAnswer if none becomes free in time."""
        host, owner = request.url.netloc.decode(), str(request.extensions.get(OWNER, ""))
        with self._changed:
            if not self._changed.wait_for(lambda: self._is_free(host, owner), _SLOT_WAIT_SECONDS):
                raise NoUsableAnswer(unusable_answers.busy(), request)
            self._in_progress[host] += 1
            self._by_owner[owner] += 1
        try:
            yield
        finally:
            with self._changed:
                self._in_progress -= Counter([host])  # drops hosts with a count of zero
                self._by_owner -= Counter([owner])
                self._changed.notify_all()

    def _is_free(self, host: str, owner: str) -> bool:
        is_owner_below = self._by_owner[owner] < self.per_owner
        return is_owner_below and self._in_progress[host] < self._per_host and self._in_progress.total() < self._total


SLOTS = RequestSlots(total=24, per_host=8)
UNTRUSTED_SLOTS = RequestSlots(total=8, per_host=2)
"""For addresses that anyone can name, so that they take no slot from the providers that tenants chose."""
CALL_SLOTS = RequestSlots(total=8, per_host=4, per_owner=4)
"""For servers of tenants that sign-ins wait for. Of the threads that serve (16, of which 12 take changes), slow servers of one
tenant hold few, and those of all tenants leave some."""
TRIAL_SLOTS = RequestSlots(total=6, per_host=2)
"""For targets that somebody tries out: fewer than half of these threads."""
_NO_LIMIT: Final[AbstractContextManager[None]] = nullcontext()


@dataclass(frozen=True)
class Bounds:
    """The limits of one exchange, where those of providers do not fit.

    Attributes:
        seconds: for everything.
        connect_seconds: for the name's look-up, and for each connection.
        max_bytes: of the response's body.
        truncates: whether the status alone counts: a body that is longer, packed or broken off is cut there, instead of refused.
        slots: None where the caller limits concurrent requests.
    """

    seconds: float
    connect_seconds: float
    max_bytes: int
    truncates: bool = False
    slots: RequestSlots | None = None


class BoundedTransport(httpx.BaseTransport):
    """Sends one request and reads the whole response, all before one deadline. Raises NoUsableAnswer.

    Args:
        is_untrusted: whether anyone can name the address, by registering an application for example.
        bounds: by default those of providers.
        max_bytes: of a response within the bounds of providers, where theirs are too few.
    """

    def __init__(
        self,
        resolver: Resolver,
        *,
        is_untrusted: bool = False,
        bounds: Bounds | None = None,
        max_bytes: int | None = None,
    ) -> None:
        slots = UNTRUSTED_SLOTS if is_untrusted else SLOTS
        self._resolver = resolver
        self._is_untrusted = is_untrusted
        self._bounds = bounds or Bounds(TIMEOUT_SECONDS, TIMEOUT_SECONDS, max_bytes or MAX_BYTES, slots=slots)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        bounds = self._bounds
        try:
            with bounds.slots.acquire(request) if bounds.slots is not None else _NO_LIMIT:
                return self._send(request)
        except NoUsableAnswer:
            raise
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as problem:
            answer = unusable_answers.of_exception(
                problem, seconds=bounds.seconds, connect_seconds=bounds.connect_seconds
            )
            raise NoUsableAnswer(answer, request) from None

    def _send(self, request: httpx.Request) -> httpx.Response:
        bounds, proxy = self._bounds, _proxy_for(request.url)
        deadline = Deadline(bounds.seconds)
        request.extensions["timeout"] = httpx.Timeout(bounds.seconds, connect=bounds.connect_seconds).as_dict()
        request.headers["Accept-Encoding"] = "identity"
        transport = DeadlineTransport(deadline, verify=tls_context(), trust_env=False, proxy=proxy)
        with httpx.Client(transport=transport, follow_redirects=False, trust_env=False) as client:
            response = (
                self._send_by_proxy(client, request) if proxy else self._send_without_proxy(client, request, deadline)
            )
            try:
                content = _read_content(response, bounds)
            finally:
                response.close()
        return httpx.Response(
            response.status_code, headers=_remaining_headers(response), content=content, request=request
        )

    def _send_by_proxy(self, client: httpx.Client, request: httpx.Request) -> httpx.Response:
        try:
            self._resolver.check_numeric_host(request.url.host)
        except AddressRefused as refused:
            raise NoUsableAnswer(unusable_answers.of_address(refused), request) from None
        return client.send(request, stream=True)

    def _send_without_proxy(self, client: httpx.Client, request: httpx.Request, deadline: Deadline) -> httpx.Response:
        """Send to one of the checked addresses. TLS still verifies the host name, and the Host header is already set."""
        url, host = request.url, _sent_host(request.url)
        try:
            port, is_untrusted = url.port or (443 if url.scheme == "https" else 80), self._is_untrusted
            seconds = min(self._bounds.connect_seconds, deadline.seconds)
            addresses = self._resolver.addresses(host, port, seconds=seconds, is_untrusted=is_untrusted)
        except AddressRefused as refused:
            raise NoUsableAnswer(unusable_answers.of_address(refused), request) from None
        request.extensions["sni_hostname"] = host
        for address in addresses[:-1]:
            request.url = url.copy_with(host=address)
            try:
                return client.send(request, stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                if deadline.is_over:
                    raise
        request.url = url.copy_with(host=addresses[-1])
        return client.send(request, stream=True)


def _sent_host(url: httpx.URL) -> str:
    """Return the host in punycode. Look-ups and TLS would encode the decoded one by older rules: `straße` is `strasse` to them."""
    return url.raw_host.decode("ascii")


def _proxy_for(url: httpx.URL) -> str | None:
    """Return the proxy that the environment configures for a URL. The proxy resolves and checks names; we check IP addresses."""
    if is_local(url.host) or urllib.request.proxy_bypass(url.host):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(url.scheme) or proxies.get("all")


def _read_content(response: httpx.Response, bounds: Bounds) -> bytes:
    encoding = response.headers.get("content-encoding", "identity")
    is_packed = encoding != "identity"
    if bounds.truncates:
        return b"" if is_packed else _beginning(response, bounds.max_bytes)
    content = b""
    if is_packed:
        raise NoUsableAnswer(unusable_answers.packed(encoding), response.request)
    for part in response.iter_raw():
        content += part
        if len(content) > bounds.max_bytes:
            raise NoUsableAnswer(unusable_answers.too_long(bounds.max_bytes), response.request)
    return content


def _beginning(response: httpx.Response, max_bytes: int) -> bytes:
    """Return the first bytes of a body, of which the rest may never come."""
    content = b""
    with suppress(httpx.HTTPError):
        for part in response.iter_raw():
            content += part
            if len(content) >= max_bytes:
                break
    return content[:max_bytes]


def _remaining_headers(response: httpx.Response) -> list[tuple[str, str]]:
    return [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _HIDDEN]


@cache
def tls_context() -> ssl.SSLContext:
    """Return the context that verifies servers; one for all, because making it reads the certificates of all authorities."""
    return httpx.create_ssl_context()
