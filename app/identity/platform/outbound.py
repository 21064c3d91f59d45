"""HTTP to identity providers: bounded in time and size, without redirects, to public and allowed addresses only.

Tenants configure providers and providers name their endpoints, so both are untrusted (SSRF). Each host name is resolved
once, within the time, its addresses are checked, and the connection goes to a checked address, which defeats DNS rebinding.
"""

from __future__ import annotations

import ssl
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import Condition
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from pydantic_core import from_json

from app.identity.platform.deadlines import Deadline, DeadlineTransport
from app.kit.proxies import is_local
from app.kit.public_addresses import AddressRefused, Resolver

TIMEOUT_SECONDS: Final = 5.0
MAX_BYTES: Final = 256_000
_SLOT_WAIT_SECONDS: Final = 1.0
_HIDDEN: Final = frozenset({"content-encoding", "content-length", "transfer-encoding", "set-cookie"})


class ProviderUnavailable(Exception):
    """The provider does not respond, rejects our client, or its response is invalid. The text is logged.

    Args:
        status: the HTTP status of a refused request.
        error: the `error` of a token endpoint (RFC 6749 section 5.2).
    """

    def __init__(self, text: str, *, status: int | None = None, error: str | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.error = error


class InvalidResponse(httpx.TransportError):
    """The response is too long, too slow, or compressed although we did not accept that."""


class RequestSlots:
    """Limits concurrent requests in total and per host, so that a hanging provider cannot block all threads."""

    def __init__(self, total: int, per_host: int) -> None:
        self._total, self._per_host = total, per_host
        self._in_progress: Counter[str] = Counter()
        self._changed = Condition()

    @contextmanager
    def acquire(self, request: httpx.Request) -> Iterator[None]:
        """Occupy a slot during a request. Raises InvalidResponse if none becomes free in time."""
        host = request.url.netloc.decode()
        with self._changed:
            if not self._changed.wait_for(lambda: self._is_free(host), _SLOT_WAIT_SECONDS):
                raise InvalidResponse("too many requests wait for providers", request=request)
            self._in_progress[host] += 1
        try:
            yield
        finally:
            with self._changed:
                self._in_progress -= Counter([host])  # drops hosts with a count of zero
                self._changed.notify_all()

    def _is_free(self, host: str) -> bool:
        return self._in_progress[host] < self._per_host and self._in_progress.total() < self._total


SLOTS = RequestSlots(total=24, per_host=8)
UNTRUSTED_SLOTS = RequestSlots(total=8, per_host=2)
"""For addresses that anyone can name, so that they take no slot from the providers that tenants chose."""


class BoundedTransport(httpx.BaseTransport):
    """Sends one request and reads the whole response, all before one deadline. Raises httpx.HTTPError.

    Args:
        is_untrusted: whether anyone can name the address, by registering an application for example.
    """

    def __init__(self, resolver: Resolver, *, is_untrusted: bool = False) -> None:
        self._resolver = resolver
        self._is_untrusted = is_untrusted

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with (UNTRUSTED_SLOTS if self._is_untrusted else SLOTS).acquire(request):
            return self._send(request)

    def _send(self, request: httpx.Request) -> httpx.Response:
        deadline, proxy = Deadline(TIMEOUT_SECONDS), _proxy_for(request.url)
        request.extensions["timeout"] = httpx.Timeout(TIMEOUT_SECONDS).as_dict()
        request.headers["Accept-Encoding"] = "identity"
        transport = DeadlineTransport(deadline, verify=_tls(), trust_env=False, proxy=proxy)
        with httpx.Client(transport=transport, follow_redirects=False, trust_env=False) as client:
            response = self._send_by_proxy(client, request) if proxy else self._send_directly(client, request, deadline)
            try:
                content = _read_content(response)
            finally:
                response.close()
        return httpx.Response(response.status_code, headers=_kept_headers(response), content=content, request=request)

    def _send_by_proxy(self, client: httpx.Client, request: httpx.Request) -> httpx.Response:
        try:
            self._resolver.check_numeric_host(request.url.host)
        except AddressRefused as refused:
            raise InvalidResponse(str(refused), request=request) from None
        return client.send(request, stream=True)

    def _send_directly(self, client: httpx.Client, request: httpx.Request, deadline: Deadline) -> httpx.Response:
        """Send to one of the checked addresses. TLS still verifies the host name, and the Host header is already set."""
        url = request.url
        try:
            port, is_untrusted = url.port or (443 if url.scheme == "https" else 80), self._is_untrusted
            addresses = self._resolver.addresses(url.host, port, seconds=deadline.seconds, is_untrusted=is_untrusted)
        except AddressRefused as refused:
            raise InvalidResponse(str(refused), request=request) from None
        request.extensions["sni_hostname"] = url.host
        for address in addresses[:-1]:
            request.url = url.copy_with(host=address)
            try:
                return client.send(request, stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                if deadline.is_over:
                    raise
        request.url = url.copy_with(host=addresses[-1])
        return client.send(request, stream=True)


def _proxy_for(url: httpx.URL) -> str | None:
    """Return the proxy that the environment configures for a URL. The proxy resolves and checks names; we check IP addresses."""
    if is_local(url.host) or urllib.request.proxy_bypass(url.host):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(url.scheme) or proxies.get("all")


def _read_content(response: httpx.Response) -> bytes:
    content = b""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise InvalidResponse("a packed answer", request=response.request)
    for part in response.iter_raw():
        content += part
        if len(content) > MAX_BYTES:
            raise InvalidResponse("the provider talks too long", request=response.request)
    return content


def _kept_headers(response: httpx.Response) -> list[tuple[str, str]]:
    return [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _HIDDEN]


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def get_json(resolver: Resolver, url: str, token: str | None = None, *, is_untrusted: bool = False) -> Any:
    """Get a JSON document, with `token` as bearer token. Raises ProviderUnavailable."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return request_json(resolver, "GET", url, headers, is_untrusted=is_untrusted)


def get_content(resolver: Resolver, url: str, accept: str, *, is_untrusted: bool = False) -> bytes:
    """Get a document of a media type. Raises ProviderUnavailable."""
    return _request(resolver, "GET", url, {"Accept": accept}, None, is_untrusted=is_untrusted)


def request_json(
    resolver: Resolver,
    method: str,
    url: str,
    headers: Mapping[str, str],
    content: bytes | None = None,
    *,
    is_untrusted: bool = False,
) -> Any:
    """Send a request, with JSON as `content` if there is any, and return the JSON of the response. Raises ProviderUnavailable."""
    headers = {"Accept": "application/json", **({"Content-Type": "application/json"} if content else {}), **headers}
    try:
        return from_json(_request(resolver, method, url, headers, content, is_untrusted=is_untrusted))
    except ValueError:
        raise ProviderUnavailable(f"{urlsplit(url).netloc} answered no JSON") from None


def _request(
    resolver: Resolver, method: str, url: str, headers: Mapping[str, str], content: bytes | None, *, is_untrusted: bool
) -> bytes:
    """Send a request and return the body of the response. Raises ProviderUnavailable."""
    host = urlsplit(url).netloc
    try:
        with httpx.Client(transport=BoundedTransport(resolver, is_untrusted=is_untrusted)) as client:
            response = client.request(method, url, headers=headers, content=content)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as problem:  # the exception's text may contain the whole URL
        raise ProviderUnavailable(f"{host} did not answer: {type(problem).__name__}") from None
    if response.status_code != httpx.codes.OK:
        raise ProviderUnavailable(f"{host} answered {response.status_code}", status=response.status_code)
    return response.content


def get_json_object(
    resolver: Resolver, url: str, token: str | None = None, *, is_untrusted: bool = False
) -> dict[str, Any]:
    """Get a JSON object. Raises ProviderUnavailable."""
    members = get_json(resolver, url, token, is_untrusted=is_untrusted)
    if not isinstance(members, dict):
        raise ProviderUnavailable(f"{urlsplit(url).netloc} answered no JSON object")
    return members
