"""WSGI middleware that applies trusted proxies' header fields and enforces HTTPS.

app = protect(app, scheme="https", domain="example.com", trusted_proxies=["10.0.0.0/8"])
"""

import ipaddress
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Literal, Self
from urllib.parse import quote
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from app.kit.caching.bounded_cache import bounded_cache

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

FORWARDED = ("HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_X_FORWARDED_")
HOST = re.compile(
    r"(?:(?!-)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]*:[0-9a-f:.]*\])(?::([0-9]{1,5}))?", re.IGNORECASE | re.ASCII
)
HOST_CHARACTERS = 255 + len(":65535")
DEFAULT_PORTS = {"http": ":80", "https": ":443"}
HSTS_SECONDS = 365 * 24 * 3600
PLAIN_REFUSAL = b"This address is served over HTTPS only. Nothing was done; what was sent travelled unprotected.\n"
WRONG_HOST = b"No such host is served here.\n"
CLIENT_CERTIFICATE = "gatehouse.client_certificate"
"""The certificate that a client presented to a trusted proxy, as the proxy's header spells it."""
CERTIFICATE_CHECK = "gatehouse.client_certificate_check"
"""What the proxy says about its chain. No header field can have these keys: those begin with `HTTP_`."""
logger = logging.getLogger("gatehouse.proxies")


@dataclass(frozen=True)
class Proxies:
    """Trusted proxies: addresses, networks, or `unix` for a socket file."""

    networks: tuple[Network, ...] = ()
    trusts_unix: bool = False

    @classmethod
    def of(cls, listed: Iterable[str]) -> Self:
        """Read the list of the settings.

        Raises:
            ValueError: an entry is neither an address nor a network nor `unix`; the message names it.
        """
        entries = [entry.strip() for entry in listed if entry.strip()]
        networks = []
        for entry in entries:
            if entry == "unix":
                continue
            try:
                networks.append(ipaddress.ip_network(entry, strict=False))
            except ValueError as error:
                raise ValueError(f"{entry!r} is not the address or network of a trusted proxy: {error}") from error
        return cls(tuple(networks), "unix" in entries)

    def trusts(self, peer: str) -> bool:
        """Return whether the peer of a connection is a trusted proxy; the peer of a socket file is empty."""
        return self.includes(read_ip(peer)) if peer else self.trusts_unix

    def includes(self, address: IpAddress | None) -> bool:
        """Return whether `address` is in one of the networks."""
        return address is not None and any(address in network for network in self.networks)


def read_ip(text: str) -> IpAddress | None:
    """Return the address of one hop of X-Forwarded-For, with or without a port; None for anything else."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_refused(address: str, allowed: Sequence[str], denied: Sequence[str]) -> bool:
    """Return whether lists of networks refuse an address. A list refuses an unreadable address, too."""
    if denied and (read_ip(address) is None or is_listed(address, denied)):
        return True
    return bool(allowed) and not is_listed(address, allowed)


def is_listed(address: str, networks: Iterable[str]) -> bool:
    """Return whether the address is in one of the networks. Raises ValueError for a malformed network."""
    parsed = read_ip(address)
    listed = _networks(tuple(networks))
    return parsed is not None and any(parsed in network for network in listed)


@lru_cache(maxsize=512)
def _networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


@bounded_cache(max_entries=4096, length=64)
def network_of(text: str) -> str:
    """Return the network of one subscriber: the /64 of an IPv6 address, an IPv4 address itself; any other text unchanged."""
    address = read_ip(text)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))
    return str(address) if address else text


@dataclass(frozen=True)
class ForwardedHeaders:
    """Applies the forwarded header fields of trusted proxies to the environment, and removes them in every case.

    The application never sees `X-Forwarded-*` or `Forwarded`; REMOTE_ADDR is the client's address. It sees the headers of client
    certificates under keys of their own, and only from trusted proxies; and no host with the default port of its scheme, which some
    clients send and some readers of a host would drop.
    """

    app: WSGIApplication
    proxies: Proxies
    certificate_headers: Mapping[str, str] = field(default_factory=dict)
    """The key of the environment for each header, such as `HTTP_CLIENT_CERT`."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if self.certificate_headers:
            self._apply_certificate(environ)
        if _may_be_forwarded(environ):
            forwarded = [key for key in environ if key.startswith(FORWARDED)]
            self._apply_trusted(environ, {key: environ.pop(key) for key in forwarded})
        if _names_default_port(environ):
            environ["HTTP_HOST"] = _without_port(environ["HTTP_HOST"])
        return self.app(environ, start_response)

    def as_seen(self, environ: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the environment as the application will see it, without calling it."""
        seen = environ
        if _may_be_forwarded(environ):
            forwarded = {key: value for key, value in environ.items() if key.startswith(FORWARDED)}
            seen = applied = {key: value for key, value in environ.items() if key not in forwarded}
            self._apply_trusted(applied, forwarded)
        return {**seen, "HTTP_HOST": _without_port(seen["HTTP_HOST"])} if _names_default_port(seen) else seen

    def _apply_certificate(self, environ: WSGIEnvironment) -> None:
        """Move the headers of the certificate, before the peer's address gives way to the client's."""
        is_trusted = self.proxies.trusts(environ.get("REMOTE_ADDR", ""))
        for header, key in self.certificate_headers.items():
            value = environ.pop(header, None)
            if value is not None and is_trusted:
                environ[key] = value

    def _apply_trusted(self, environ: WSGIEnvironment, forwarded: dict[str, Any]) -> None:
        peer = environ.get("REMOTE_ADDR", "")
        if self.proxies.trusts(peer):
            self._apply(environ, forwarded)
        elif "HTTP_X_FORWARDED_PROTO" in forwarded:
            _warn_once(peer)

    def _apply(self, environ: WSGIEnvironment, forwarded: dict[str, Any]) -> None:
        hops_back = self._client(environ, _hops(forwarded, "HTTP_X_FORWARDED_FOR"))
        scheme = _at(hops_back, _hops(forwarded, "HTTP_X_FORWARDED_PROTO")).lower()
        if scheme in {"http", "https"}:
            environ["wsgi.url_scheme"] = scheme
        host = _at(hops_back, _hops(forwarded, "HTTP_X_FORWARDED_HOST"))
        if is_host(host):
            environ["HTTP_HOST"] = host.lower()

    def _client(self, environ: WSGIEnvironment, hops: Sequence[str]) -> int:
        """Walk from the nearest hop outwards to the first that is no trusted proxy; return the number of steps."""
        steps = 0
        for hop in reversed(hops):
            address = read_ip(hop)
            if address is None:
                break  # the hop that wrote this is the last known address
            steps += 1
            environ["REMOTE_ADDR"] = str(address)
            if not self.proxies.includes(address):
                break
        return max(steps, 1)


def _may_be_forwarded(environ: Mapping[str, Any]) -> bool:
    """Return whether any key could be one of FORWARDED: one search over all keys."""
    keys = " ".join(environ)
    return "FORWARDED" in keys or "X_REAL_IP" in keys


def _names_default_port(environ: Mapping[str, Any]) -> bool:
    host: str = environ.get("HTTP_HOST", "")
    return host.endswith(DEFAULT_PORTS[environ["wsgi.url_scheme"]])


def _without_port(host: str) -> str:
    return host.rpartition(":")[0]


@lru_cache(maxsize=100)
def _warn_once(peer: str) -> None:
    """Log a warning once: an unlisted proxy often causes an endless redirect to HTTPS."""
    logger.warning("Forwarded header fields from %s are not believed: it is not listed as a trusted proxy", peer)


def _hops(forwarded: dict[str, Any], key: str) -> list[str]:
    return [value.strip() for value in str(forwarded.get(key, "")).split(",") if value.strip()]


def _at(hops_back: int, values: Sequence[str]) -> str:
    """Return the value of the proxy next to the client; a proxy that overwrites instead of appending leaves a single value."""
    return values[max(len(values) - hops_back, 0)] if values else ""


@bounded_cache(max_entries=4096, length=HOST_CHARACTERS)
def is_host(text: str) -> bool:
    """Return whether the text is a host name or address in ASCII, with or without a port, as in a Host field."""
    found = HOST.fullmatch(text) if len(text) <= HOST_CHARACTERS else None
    if found is None or int(found[1] or 0) > 65535:
        return False
    return not text.startswith("[") or read_ip(text) is not None


def hostname_of(host: str) -> str:
    """Return a Host field without port and trailing dot, in lower case."""
    name = host if host.startswith("[") and host.endswith("]") else re.sub(r":[0-9]*$", "", host)
    return name.lower().rstrip(".")


def is_local(host: str) -> bool:
    """Return whether browsers resolve `host` to the loopback address: `localhost` and all names below it."""
    name = hostname_of(host)
    return name == "localhost" or name.endswith(".localhost")


def no_other_host(_host: str) -> bool:
    """Serve no host outside the domain."""
    return False


@dataclass(frozen=True)
class HttpsOnly:
    """Redirects plain HTTP to HTTPS, and sends Strict-Transport-Security.

    GET and HEAD are redirected; other methods are refused, because a client that is redirected silently would go on
    sending its secrets in the clear. Hosts below `localhost` are exempt.
    """

    app: WSGIApplication
    domain: str
    """Only hosts in it are redirected, because the Host field is the client's input."""
    is_served: Callable[[str], bool] = no_other_host
    """Whether a host name outside `domain` is served too (a customer's own domain)."""
    plain_hosts: Collection[str] = field(default_factory=frozenset)
    """Host names that may use plain HTTP: those of internal calls."""
    plain_paths: tuple[str, ...] = ("/health/", "/tls/")
    """Path prefixes that may use plain HTTP: those of probes and of the proxy, which know no host name."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        host = environ.get("HTTP_HOST", "")
        if is_local(host):
            return self.app(environ, start_response)
        if environ["wsgi.url_scheme"] == "https":
            return self.app(environ, _with_hsts(start_response))
        if hostname_of(host) in self.plain_hosts or environ.get("PATH_INFO", "").startswith(self.plain_paths):
            return self.app(environ, start_response)
        return self._redirect(environ, start_response, host)

    def _redirect(self, environ: WSGIEnvironment, start_response: StartResponse, host: str) -> Iterable[bytes]:
        address = self._secure_address(host)
        if address is None:
            return _answer(start_response, HTTPStatus.MISDIRECTED_REQUEST, WRONG_HOST)
        if environ["REQUEST_METHOD"] not in {"GET", "HEAD"}:
            return _answer(start_response, HTTPStatus.FORBIDDEN, PLAIN_REFUSAL)
        path = quote(environ.get("PATH_INFO", "").encode("latin-1"), safe="/:@!$&'()*+,;=~") or "/"
        query = environ.get("QUERY_STRING", "")
        location = f"https://{address}{path}" + (f"?{query}" if query else "")
        return _answer(start_response, HTTPStatus.PERMANENT_REDIRECT, b"", ("Location", location))

    def _secure_address(self, host: str) -> str | None:
        """Return where `host` is served over HTTPS: at the port of the domain, if it has one; None if it is not served."""
        if not is_host(host):
            return None
        name, domain = hostname_of(host), hostname_of(self.domain)
        port = self.domain.rpartition(":")[2] if ":" in self.domain else ""
        if name == domain or name.endswith(f".{domain}"):
            return f"{name}:{port}" if port else name
        return name if self.is_served(name) else None


def _with_hsts(start_response: StartResponse) -> StartResponse:
    def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
        hsts = ("Strict-Transport-Security", f"max-age={HSTS_SECONDS}")
        return start_response(status, [*headers, hsts], *rest)

    return start


def _answer(
    start_response: StartResponse, status: HTTPStatus, body: bytes, *headers: tuple[str, str]
) -> Iterable[bytes]:
    head = [*headers, ("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]
    start_response(f"{status.value} {status.phrase}", [*head, ("Cache-Control", "no-store")])
    return [body]


def protect(
    app: WSGIApplication,
    *,
    scheme: Literal["http", "https"],
    domain: str,
    trusted_proxies: Iterable[str] = (),
    is_served: Callable[[str], bool] = no_other_host,
    plain_hosts: Collection[str] = (),
    certificate_header: str = "",
    check_header: str = "",
) -> ForwardedHeaders:
    """Return `app` behind both, as the settings say; with `scheme` "http", plain HTTP is served everywhere.

    Args:
        certificate_header: in which trusted proxies send client certificates.
        check_header: in which they say that a certificate's chain is verified.

    Raises:
        ValueError: a trusted proxy is not an address.
    """
    if scheme == "https":
        app = HttpsOnly(app, domain, is_served, frozenset(map(hostname_of, plain_hosts)))
    keys = {certificate_header: CLIENT_CERTIFICATE, check_header: CERTIFICATE_CHECK}
    headers = {f"HTTP_{name.upper().replace('-', '_')}": key for name, key in keys.items() if name}
    return ForwardedHeaders(app, Proxies.of(trusted_proxies), headers)
