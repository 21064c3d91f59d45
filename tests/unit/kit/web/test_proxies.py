"""Forwarded header fields are used from trusted proxies only, and plain HTTP redirects to HTTPS."""

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest

from app.kit.web.proxies import Proxies, hostname_of, is_local, network_of, protect

PROXY, CLIENT = "10.0.0.7", "198.51.100.9"


@dataclass
class ProxiedPage:
    """An application that remembers its requests and its responses."""

    environ: dict[str, Any] = field(default_factory=dict)
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        self.environ = environ
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"served"]

    @property
    def address(self) -> str:
        return f"{self.environ['wsgi.url_scheme']}://{self.environ['HTTP_HOST']}"


def ask(
    peer: str = CLIENT,
    *,
    method: str = "GET",
    scheme: str = "http",
    path: str = "/login",
    query: str = "",
    **fields: str,
) -> ProxiedPage:
    """Send one request through both; `fields` are header fields, `x_forwarded_for="..."`."""
    return through({}, peer, method=method, scheme=scheme, path=path, query=query, **fields)


def through(settings: dict[str, Any], peer: str = CLIENT, **request: str) -> ProxiedPage:
    seen = ProxiedPage()
    environ: dict[str, Any] = {"REQUEST_METHOD": request.pop("method", "GET"), "REMOTE_ADDR": peer}
    environ["PATH_INFO"], environ["QUERY_STRING"] = request.pop("path", "/login"), request.pop("query", "")
    environ["wsgi.url_scheme"] = request.pop("scheme", "http")
    environ["HTTP_HOST"] = "acme.example.com"
    environ |= {f"HTTP_{name.upper()}": value for name, value in request.items()}
    setup_testing_defaults(environ)

    def start_response(status: str, headers: list[tuple[str, str]], *_: object) -> Callable[[bytes], object]:
        seen.status, seen.headers = int(status[:3]), dict(headers)
        return io.BytesIO().write

    app = protect(
        seen, **{"scheme": "https", "domain": "example.com", "trusted_proxies": ["10.0.0.0/24", "::1"]} | settings
    )
    seen.body = b"".join(app(environ, start_response))
    return seen


def test_client_address_comes_from_a_trusted_proxy() -> None:
    seen = ask(PROXY, x_forwarded_for=CLIENT, x_forwarded_proto="https", x_forwarded_host="globex.example.com")
    assert seen.environ["REMOTE_ADDR"] == CLIENT
    assert seen.address == "https://globex.example.com"


def test_forwarded_fields_of_a_client_are_ignored() -> None:
    seen = ask(CLIENT, scheme="https", x_forwarded_for="203.0.113.1", x_forwarded_host="globex.example.com")
    assert seen.environ["REMOTE_ADDR"] == CLIENT
    assert seen.address == "https://acme.example.com"


def test_forwarded_scheme_of_a_client_is_ignored() -> None:
    assert ask(CLIENT, x_forwarded_proto="https").status == 308


@pytest.mark.parametrize("peer", [PROXY, CLIENT])
def test_forwarded_fields_are_removed(peer: str) -> None:
    fields = {"x_forwarded_for": CLIENT, "x_forwarded_prefix": "/x", "forwarded": "for=1.2.3.4", "x_real_ip": "1.2.3.4"}
    seen = ask(peer, scheme="https", **fields)
    assert not [key for key in seen.environ if "FORWARDED" in key or "REAL_IP" in key]


@pytest.mark.parametrize(
    ("hops", "client"),
    [
        (f"203.0.113.1, {CLIENT}", CLIENT),  # the first was written by the client itself
        (f"203.0.113.1, {CLIENT}, 10.0.0.8", CLIENT),  # a proxy behind a proxy
        (f"10.0.0.9, {CLIENT}, 10.0.0.8", CLIENT),  # a client that names one of ours
        ("10.0.0.9, 10.0.0.8", "10.0.0.9"),  # a proxy itself
        (f"{CLIENT}:4711", CLIENT),
        ("[2001:db8::9]:4711", "2001:db8::9"),
        ("2001:db8::9", "2001:db8::9"),
        (f"::ffff:{CLIENT}", CLIENT),
        ("unknown", PROXY),
        (f"{CLIENT}, unknown, 10.0.0.8", "10.0.0.8"),  # beyond the unknown nothing is known
        ("", PROXY),
    ],
)
def test_client_is_the_nearest_untrusted_hop(hops: str, client: str) -> None:
    assert ask(PROXY, scheme="https", x_forwarded_for=hops).environ["REMOTE_ADDR"] == client


@pytest.mark.parametrize(
    ("hops", "schemes", "status"),
    [
        (CLIENT, "https", 200),
        (CLIENT, "https, http", 308),  # the client wrote the first
        (f"{CLIENT}, 10.0.0.8", "https, http", 200),  # the proxy next to the client wrote the first
        (f"{CLIENT}, 10.0.0.8", "https", 200),  # a proxy that overwrites
        (CLIENT, "gopher", 308),
    ],
)
def test_scheme_is_that_of_the_outermost_trusted_proxy(hops: str, schemes: str, status: int) -> None:
    assert ask(PROXY, x_forwarded_for=hops, x_forwarded_proto=schemes).status == status


@pytest.mark.parametrize("host", ["evil.example/path", "a b", "a@b", "x\r\ny", ""])
def test_invalid_forwarded_host_is_ignored(host: str) -> None:
    assert ask(PROXY, scheme="https", x_forwarded_host=host).address == "https://acme.example.com"


def test_unix_socket_is_trusted_only_when_listed() -> None:
    assert through({"trusted_proxies": ["unix"]}, "", x_forwarded_proto="https").status == 200
    assert through({}, "", x_forwarded_proto="https").status == 308


def test_invalid_proxy_entry_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"'10\.0\.0\.1/33'"):
        Proxies.of(["10.0.0.1", "10.0.0.1/33"])
    with pytest.raises(ValueError, match="'nginx'"):
        Proxies.of(["nginx"])


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_page_over_plain_http_redirects_to_https(method: str) -> None:
    seen = ask(method=method, path="/a b/\xc3\xbc", query="x=1&y=%20")
    assert seen.status == 308
    assert seen.headers["Location"] == "https://acme.example.com/a%20b/%C3%BC?x=1&y=%20"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_writes_over_plain_http_are_refused_with_the_reason(method: str) -> None:
    seen = ask(method=method, path="/api/oidc/token")
    assert seen.status == 403
    assert b"HTTPS only" in seen.body
    assert seen.environ == {}  # the application never saw it


def test_path_cannot_break_out_of_the_redirect() -> None:
    location = ask(path="//evil.test/\r\nSet-Cookie: a=b").headers["Location"]
    assert location == "https://acme.example.com//evil.test/%0D%0ASet-Cookie:%20a=b"


@pytest.mark.parametrize("host", ["evil.test", "acme.example.com.evil.test", "notexample.com", "a@example.com", ""])
def test_unknown_host_gets_no_redirect(host: str) -> None:
    seen = through({}, host=host)
    assert seen.status == 421
    assert "Location" not in seen.headers


def test_custom_domain_redirects_to_https() -> None:
    seen = through({"is_served": lambda host: host == "login.acme.test"}, host="login.acme.test:80")
    assert seen.headers["Location"] == "https://login.acme.test/login"


def test_redirect_has_the_port_of_the_hub_domain() -> None:
    seen = through({"domain": "example.com:8443"}, host="ACME.example.com:8080")
    assert seen.headers["Location"] == "https://acme.example.com:8443/login"


def test_https_responses_send_hsts() -> None:
    assert ask(scheme="https").headers["Strict-Transport-Security"] == "max-age=31536000"
    assert "Strict-Transport-Security" not in ask().headers


@pytest.mark.parametrize("host", ["acme.localhost:8000", "localhost", "ACME.LOCALHOST."])
def test_localhost_is_exempt(host: str) -> None:
    assert through({}, host=host).status == 200
    assert "Strict-Transport-Security" not in through({}, host=host, scheme="https").headers


@pytest.mark.parametrize("host", ["localhost.evil.test", "notlocalhost", "127.0.0.1:8000"])
def test_host_similar_to_localhost_is_not_exempt(host: str) -> None:
    assert through({}, host=host).status == 421


def test_internal_hosts_and_probes_may_use_plain_http() -> None:
    assert through({"plain_hosts": ["identity:8000"]}, host="identity:8000").status == 200
    assert through({}, host="10.0.0.3:8000", path="/health/ready").status == 200


def test_scheme_http_redirects_nothing_and_still_checks_proxies() -> None:
    seen = through({"scheme": "http"}, x_forwarded_for="203.0.113.1")
    assert seen.status == 200
    assert seen.environ["REMOTE_ADDR"] == CLIENT


@pytest.mark.parametrize(
    ("host", "name"), [("Acme.Test:80", "acme.test"), ("[::1]:80", "[::1]"), ("[::1]", "[::1]"), ("a.", "a"), ("", "")]
)
def test_host_name_has_no_port_and_no_case(host: str, name: str) -> None:
    assert hostname_of(host) == name
    assert not is_local(host)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("2001:db8:1:2::7", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::7", "2001:db8:1:3::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("203.0.113.7", "203.0.113.7"),
        ("", ""),
        ("unknown", "unknown"),
    ],
)
def test_addresses_of_one_subscriber_are_one_network(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    ("scheme", "fields", "expected"),
    [
        ("https", {"host": "acme.example.com:443"}, "acme.example.com"),
        ("http", {"host": "acme.localhost:80"}, "acme.localhost"),
        ("https", {"host": "[::1]:443"}, "[::1]"),
        ("https", {"host": "acme.example.com:80"}, "acme.example.com:80"),
        ("https", {"host": "acme.example.com:8443"}, "acme.example.com:8443"),
        ("http", {"host": "acme.localhost:443"}, "acme.localhost:443"),
        ("http", {"x_forwarded_proto": "https", "x_forwarded_host": "acme.example.com:443"}, "acme.example.com"),
        ("http", {"x_forwarded_proto": "https", "host": "acme.example.com:443"}, "acme.example.com"),
    ],
)
def test_default_port_is_no_part_of_the_host(scheme: str, fields: dict[str, str], expected: str) -> None:
    """Each reader of the host compares the same text, before the application is called and within it."""
    assert ask(PROXY, scheme=scheme, **fields).environ["HTTP_HOST"] == expected
    environ = {"wsgi.url_scheme": scheme, "REMOTE_ADDR": PROXY, "HTTP_HOST": "acme.example.com"}
    environ |= {f"HTTP_{name.upper()}": value for name, value in fields.items()}
    app = protect(ProxiedPage(), scheme="https", domain="example.com", trusted_proxies=[PROXY])
    assert app.as_seen(environ)["HTTP_HOST"] == expected
