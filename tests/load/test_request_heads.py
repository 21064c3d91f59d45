"""Request lines, targets and header fields that two readers could read differently."""

import json
from typing import Any

import pytest

from tests.load.clients import Served, get, head


def environ_of(served: Served, line: str, *fields: str, host: str | None = "acme.localhost") -> dict[str, Any]:
    answer = served.ask(head(line, *fields, "Connection: close", host=host))
    environ: dict[str, Any] = json.loads(answer.partition(b"\r\n\r\n")[2])
    return environ


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("GET / HTTP/1.1", [200, 200]),
        ("GET / HTTP/1.0", [200]),
        ("GET / HTTP/1.2", [505]),
        ("GET / HTTP/2.0", [505]),
        ("GET / HTTP/3.0", [505]),
        ("GET / HTTP/0.9", [505]),
        ("PRI * HTTP/2.0", [505]),
        ("GET /", [400]),
        ("GET", [400]),
        ("GET  HTTP/1.1", [400]),
        ("GET / http/1.1", [400]),
        ("GET / Http/1.1", [400]),
        ("GET / HTTP/1.1 ", [400]),
        ("GET / HTTP/1.10", [400]),
        ("GET / HTTP/01.1", [400]),
        ("GET / HTTP/1", [400]),
        ("GET / HTTP/1,1", [400]),
        ("GET / ICY/1.1", [400]),
        ("GET / HTTP/1.1\x0b", [400]),
        ("GET  / HTTP/1.1", [400]),
        ("GET /  HTTP/1.1", [400]),
        ("GET\t/ HTTP/1.1", [400]),
        (" GET / HTTP/1.1", [400]),
        ("GET / a HTTP/1.1", [400]),
        ("get / HTTP/1.1", [501]),
        ("GETX / HTTP/1.1", [501]),
        ("G(T / HTTP/1.1", [400]),
        ("G\xc9T / HTTP/1.1", [400]),
        ("TRACE / HTTP/1.1", [405, 200]),
        ("CONNECT acme.localhost:443 HTTP/1.1", [501]),
        ("CONNECT / HTTP/1.1", [501]),
        ("OPTIONS * HTTP/1.1", [404, 200]),
        ("GET * HTTP/1.1", [400]),
        ("POST * HTTP/1.1", [400]),
    ],
)
def test_request_line_has_one_reading(shared: Served, line: str, expected: list[int]) -> None:
    assert shared.statuses(head(line)) == expected


def test_empty_lines_before_a_request_are_skipped(shared: Served) -> None:
    assert shared.statuses(b"\r\n\r\n" + get("/") + b"\r\n") == [200, 200]
    for wrong in (b"\n", b"\r", b"\r\r\n", b" \r\n", b"\x00"):
        assert shared.statuses(wrong + get("/")) == [400]


@pytest.mark.parametrize(
    "beginning",
    [b"GET /\r\n", b"GET / HTTP/1.1\n", b"\x16\x03\x01", b"GET / HTTP/1.1\r\nHost: a\n", b"GET \x00", b"\n"],
)
def test_beginning_that_cannot_be_mended_is_refused(shared: Served, beginning: bytes) -> None:
    """The client, which waits for an answer, learns at once that nothing can make a request of this."""
    assert shared.ask(beginning).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("/environ/?a=b%20c", "/environ/", "a=b%20c"),
        ("/environ/a//b/../c/./d", "/environ/a//b/../c/./d", ""),
        ("/environ/%2e%2e/a", "/environ/../a", ""),
        ("/environ/a%2Fb%5Cc", "/environ/a/b\\c", ""),
        ("/environ/%252F%2500", "/environ/%2F%00", ""),
        ("/environ/a%zz%", "/environ/a%zz%", ""),
        ("/environ/a;b=c,d:e@f", "/environ/a;b=c,d:e@f", ""),
        ("/environ/?http://globex.localhost/?x", "/environ/", "http://globex.localhost/?x"),
        ("http://acme.localhost/environ/a?b", "/environ/a", "b"),
        ("HTTP://ACME.localhost/environ/a", "/environ/a", ""),
        ("https://acme.localhost/environ/a", "/environ/a", ""),
        ("http://acme.localhost/environ/a//b", "/environ/a//b", ""),
        ("//globex.localhost/environ/", None, ""),
        ("http://acme.localhost//globex.localhost/environ/", None, ""),
    ],
)
def test_target_is_decoded_once(shared: Served, target: str, path: str | None, query: str) -> None:
    if path is None:  # two slashes at the beginning of a path name no host
        assert shared.statuses(head(f"GET {target} HTTP/1.1")) == [404, 200]
        return
    environ = environ_of(shared, f"GET {target} HTTP/1.1")
    assert (environ["PATH_INFO"], environ["QUERY_STRING"]) == (path, query)
    assert environ["wsgi.url_scheme"] == "http"  # a client that claims to use TLS uses none


@pytest.mark.parametrize(
    "target",
    [
        "/#fragment", "/environ/?a#b", "#", "/#", "http://acme.localhost/#a", "http://acme.localhost/?a#b",
        "environ/", "?a", "acme.localhost", "acme.localhost:80", "\\environ", "/environ/\\a", "/environ/\xfc", "/?\xfc",
        "/environ/%00", "/environ/%0d%0aX", "/environ/%1f", "/environ/%7f", "/\x00", "/\x7f", "/?\x01",
        "http:/environ/", "http:///environ/", "http://", "http://?a", "http:environ/", "://acme.localhost/",
        "ftp://acme.localhost/", "ws://acme.localhost/", "file:///environ/", "javascript://acme.localhost/",
        "http://user@acme.localhost/", "http://user:word@acme.localhost/", "http://globex.localhost@acme.localhost/",
        "http://acme.localhost:/", "http://acme.localhost:0x50/", "http://acme.localhost:99999/",
        "http://acme.localhost,globex.localhost/", "http://acme%2elocalhost/", "http://\xe4cme.localhost/",
        "http://acme.localhost\\/", "http://[::1/", "http://.localhost/", "http://acme..localhost/", "http:\\\\acme.localhost/",
    ],
)  # fmt: skip
def test_target_with_two_readings_is_refused(shared: Served, target: str) -> None:
    assert shared.statuses(head(f"GET {target} HTTP/1.1")) == [400]


@pytest.mark.parametrize(
    ("target", "host"),
    [
        ("http://globex.localhost/environ/", "globex.localhost"),
        ("http://globex.localhost:8000/environ/", "globex.localhost:8000"),
        ("http://GLOBEX.localhost/environ/", "globex.localhost"),
        ("http://[::1]:8000/environ/", "[::1]:8000"),
    ],
)
def test_host_of_absolute_target_counts(shared: Served, target: str, host: str) -> None:
    assert environ_of(shared, f"GET {target} HTTP/1.1")["HTTP_HOST"].lower() == host
    assert environ_of(shared, f"GET {target} HTTP/1.0", host=None)["HTTP_HOST"].lower() == host


def test_absolute_target_without_path_is_the_root(shared: Served) -> None:
    assert shared.statuses(head("GET http://acme.localhost HTTP/1.1")) == [200, 200]
    assert shared.statuses(head("GET http://acme.localhost?a=b HTTP/1.1")) == [200, 200]
    assert shared.statuses(head("OPTIONS http://acme.localhost HTTP/1.1")) == [200, 200]


HOSTS_REFUSED = [
    "", " ", "acme.localhost, globex.localhost", "acme.localhost globex.localhost", "user@acme.localhost",
    "acme.localhost/", "acme.localhost/a", "acme.localhost?a", "acme.localhost#a", "http://acme.localhost", "acme\\localhost",
    "acme%2elocalhost", "%61cme.localhost", "\xe4cme.localhost", "acme.localhost:", "acme.localhost:99999",
    "acme.localhost:-1", "acme.localhost:80:80", "acme.localhost:8a", "acme.localhost:\xb2", ":80", ".localhost",
    "acme..localhost", "acme.localhost..", "-acme.localhost", "[::1", "::1", "[acme]", "[]", "[:.:]", "[1:2]:80", "acme.localhost\x00",
    "a\tb", "a" * 300,
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS_REFUSED)
def test_malformed_host_is_refused(shared: Served, host: str) -> None:
    assert shared.statuses(head("GET / HTTP/1.1", host=host)) == [400]
    assert shared.statuses(head("GET / HTTP/1.0", host=host)) == [400]
    assert shared.statuses(head("GET http://acme.localhost/ HTTP/1.1", host=host)) == [400]


@pytest.mark.parametrize(
    "host",
    [
        "acme.localhost", "ACME.localhost", "acme.localhost.", "acme.localhost:80", "acme.localhost:65535",
        "xn--bcher-kva.example", "[::1]:80", "127.0.0.1", "web_1:8000",
    ],
)  # fmt: skip
def test_well_formed_host_is_served(shared: Served, host: str) -> None:
    assert shared.statuses(head("GET / HTTP/1.1", host=host)) == [200, 200]


def test_request_has_exactly_one_host(shared: Served, subtests: pytest.Subtests) -> None:
    for line in ("GET / HTTP/1.1", "GET http://acme.localhost/ HTTP/1.1"):
        for second in ("acme.localhost", "globex.localhost", ""):
            with subtests.test(f"{line} {second}"):
                assert shared.statuses(head(line, f"host: {second}")) == [400]
        assert shared.statuses(head(line, host=None)) == [400]
        assert shared.statuses(head(line, "HO_ST: acme.localhost", host=None)) == [400]


@pytest.mark.parametrize(
    "line",
    [
        "X-A : b", "X-A\t: b", "X A: b", ": b", "X-A", "X-A\xfc: b", "X(A): b", "X-A: b\r\n c", "X-A: b\r\n\tc",
        " X-A: b", "X-A: b\nX-B: c", "X-A: b\rX-B: c", "X-A: b\r\r\nX-B: c", "X-A: b\x00c", "X-A: b\x0bc", "X-A: b\x1fc", "X-A: b\x7fc",
        "X-\x00A: b", "X-A\n: b", "\"X\": b", "X-A;: b",
    ],
)  # fmt: skip
def test_malformed_field_is_refused(shared: Served, line: str) -> None:
    assert shared.statuses(head("GET / HTTP/1.1", line)) == [400]
    assert shared.statuses(head("GET / HTTP/1.1", line, "X-Last: yes")) == [400]


def test_folded_first_line_is_refused(shared: Served) -> None:
    assert shared.statuses(b"GET / HTTP/1.1\r\n X-A: b\r\nHost: acme.localhost\r\n\r\n") == [400]


def test_bare_line_feeds_end_no_line(shared: Served, subtests: pytest.Subtests) -> None:
    complete = get("/")
    for request in (
        complete.replace(b"\r\n", b"\n"),
        complete.replace(b"\r\n", b"\r"),
        complete[:-2] + b"\n",
        complete[:-3] + b"\n\n",
    ):
        with subtests.test(repr(request)):
            assert shared.statuses(request) == [400]


@pytest.mark.parametrize(
    "name", ["X_Forwarded_For", "X-Forwarded_For", "x_real-ip", "Content_Type", "_Host", "X_Request_ID"]
)
def test_underscore_name_shadows_no_field(shared: Served, name: str) -> None:
    assert "globex" not in str(environ_of(shared, "GET /environ/ HTTP/1.1", f"{name}: globex"))


def test_field_value_arrives_without_outer_blanks(shared: Served) -> None:
    environ = environ_of(shared, "GET /environ/ HTTP/1.1", "X-A: \t a \t b\t ", "X-Empty:", "X-Latin: \xfc")
    assert [environ[f"HTTP_X_{name}"] for name in ("A", "EMPTY", "LATIN")] == ["a \t b", "", "\xfc"]


def test_fields_of_the_connection_stay_in_the_server(shared: Served) -> None:
    environ = environ_of(shared, "GET /environ/ HTTP/1.1", "Upgrade: websocket", "HTTP2-Settings: a", "TE: trailers")
    assert not {"HTTP_CONNECTION", "HTTP_UPGRADE", "HTTP_HTTP2_SETTINGS", "HTTP_TRANSFER_ENCODING"} & environ.keys()
