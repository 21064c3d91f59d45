"""HTTP and WSGI conformance over a real socket."""

import json
from typing import Any

from tests.load.clients import Served, get, post, read_all, read_answer, status


def environ_of(answer: bytes) -> dict[str, Any]:
    environ: dict[str, Any] = json.loads(answer.partition(b"\r\n\r\n")[2])
    return environ


def test_environ_describes_the_request(served: Served) -> None:
    environ = environ_of(served.get("/environ/?a=b%20c"))
    assert environ["REMOTE_ADDR"] == "127.0.0.1"
    assert environ["wsgi.url_scheme"] == "http"
    assert environ["HTTP_HOST"] == "acme.localhost"
    assert environ["QUERY_STRING"] == "a=b%20c"
    assert environ["SERVER_PROTOCOL"] == "HTTP/1.1"
    assert environ["SERVER_PORT"] == str(served.port)


def test_path_arrives_unchanged(served: Served) -> None:
    environ = environ_of(served.get("/environ/%C3%BC%FF%2F"))
    assert environ["PATH_INFO"].encode("latin-1") == b"/environ/\xc3\xbc\xff/"


def test_repeated_fields_are_joined_and_cookies_by_semicolon(served: Served) -> None:
    environ = environ_of(served.get("/environ/", "X-Two: 1", "X-Two: 2", "Cookie: a=1", "Cookie: b=2"))
    assert (environ["HTTP_X_TWO"], environ["HTTP_COOKIE"]) == ("1,2", "a=1; b=2")


def test_underscore_header_cannot_spoof_hyphenated_header(served: Served) -> None:
    environ = environ_of(served.get("/environ/", "X_Forwarded_For: 10.0.0.1"))
    assert "HTTP_X_FORWARDED_FOR" not in environ


def test_responses_omit_server_header(served: Served) -> None:
    for path in ("/", "/raise", "/nowhere"):
        assert b"\r\nserver:" not in served.get(path).lower()


def test_each_cookie_has_its_own_header_line(served: Served) -> None:
    assert served.get("/cookies").lower().count(b"\r\nset-cookie:") == 2


def test_head_response_has_length_and_no_body(served: Served) -> None:
    answer = served.ask(b"HEAD / HTTP/1.1\r\nHost: acme.localhost\r\nConnection: close\r\n\r\n")
    assert status(answer) == 200
    assert b"content-length: 8" in answer.lower()
    assert answer.endswith(b"\r\n\r\n")


def test_failure_outside_the_application_is_a_500(served: Served) -> None:
    answer = served.get("/raise")
    assert status(answer) == 500
    assert b"outside of everything" not in answer


def test_pipelined_requests_are_answered_in_order(served: Served) -> None:
    with served.connect(get("/slow/0.2") + get("/") + get("/cookies", "Connection: close")) as client:
        answers = read_all(client)
    assert answers.count(b"HTTP/1.1 200") == 3
    assert answers.index(b"slow but complete") < answers.index(b"ordinary") < answers.index(b"two cookies")


def test_connection_serves_consecutive_requests(served: Served) -> None:
    with served.connect() as client:
        for body in (b"a" * 3, b"b" * 70_000, b""):
            client.sendall(post("/length", body))
            assert read_answer(client).endswith(str(len(body)).encode())


def test_chunked_body_arrives_complete(served: Served) -> None:
    head = b"POST /length HTTP/1.1\r\nHost: acme.localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    assert served.ask(head + b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n").endswith(b"\r\n\r\n11")


def test_expect_header_gets_100_continue(served: Served) -> None:
    request = post("/length", b"hello", "Expect: 100-continue")
    with served.connect(request[:-5]) as client:
        assert client.recv(65536).startswith(b"HTTP/1.1 100 Continue\r\n\r\n")
        client.sendall(b"hello")
        assert read_answer(client).endswith(b"5")


def test_missing_or_duplicate_host_is_refused(served: Served) -> None:
    assert status(served.ask(b"GET / HTTP/1.1\r\n\r\n")) == 400
    assert status(served.ask(get("/", "Host: globex.localhost"))) == 400


def test_body_with_two_lengths_is_refused(served: Served) -> None:
    assert status(served.ask(post("/length", b"hello", "Transfer-Encoding: chunked"))) == 400
    assert status(served.ask(post("/length", b"hello", "Content-Length: 6"))) == 400


def test_upgrade_offer_is_ignored(served: Served) -> None:
    offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")
    assert status(served.ask(get("/", *offer, "Connection: close"))) == 200
    with served.connect(post("/length", b"hello", *offer)) as client:  # as Java's client sends each request without TLS
        assert read_answer(client).endswith(b"5")
        client.sendall(post("/length", b"hi", *offer))
        assert read_answer(client).endswith(b"2")


def test_stream_starts_early_and_ends_with_its_client(served: Served) -> None:
    with served.connect(get("/stream")) as client:
        assert b"transfer-encoding: chunked" in client.recv(65536)
    assert served.get("/closed").endswith(b"True")


def test_broken_stream_has_no_final_chunk(served: Served) -> None:
    answer = served.get("/broken-stream")
    assert b"the first half" in answer
    assert not answer.endswith(b"0\r\n\r\n")


def test_large_response_arrives_complete(served: Served) -> None:
    assert served.get("/large").count(b"x") >= 30_000_000
