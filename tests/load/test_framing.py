"""Where a request ends: what two readers of one message could read differently is refused, and the connection closes."""

import pytest

from tests.load.clients import HIDDEN, Served, get, head

POST = "POST /length HTTP/1.1"
OFFER = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")
CHUNKED = "Transfer-Encoding: chunked"
HIDDEN_CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(HIDDEN), HIDDEN)


@pytest.mark.parametrize(
    "offer", [OFFER, ("Connection: upgrade", "Upgrade: websocket"), ("Connection: x", "Upgrade: h2c")]
)
def test_upgrade_offer_changes_no_framing(shared: Served, subtests: pytest.Subtests, offer: tuple[str, ...]) -> None:
    length = f"Content-Length: {len(HIDDEN)}"
    cases = {
        "length": (head(POST, *offer, length) + HIDDEN, [200, 200]),
        "chunked": (head(POST, *offer, CHUNKED) + HIDDEN_CHUNKS, [200, 200]),
        "bodiless": (head("GET / HTTP/1.1", *offer), [200, 200]),
        "closing": (head("GET / HTTP/1.1", *offer, "Connection: close"), [200]),
        "1.0": (head("GET / HTTP/1.0", *offer), [200]),
        "1.0 without host": (head("GET / HTTP/1.0", *offer, host=None), [200]),
        "1.0 kept alive": (head("GET / HTTP/1.0", *offer, "Connection: keep-alive"), [200]),
        "1.0 chunked": (head("POST /length HTTP/1.0", *offer, CHUNKED) + HIDDEN_CHUNKS, [400]),
        "length and chunked": (head(POST, *offer, length, CHUNKED) + HIDDEN_CHUNKS, [400]),
        "gzip, chunked": (head(POST, *offer, "Transfer-Encoding: gzip, chunked") + HIDDEN_CHUNKS, [501]),
        "two hosts": (head("GET / HTTP/1.1", *offer, "Host: globex.localhost"), [400]),
        "offered preface": (head("GET / HTTP/1.1", *offer) + b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [200, 505]),
    }
    for name, (request, expected) in cases.items():
        with subtests.test(name):
            assert shared.statuses(request) == expected


def test_upgrade_offer_keeps_the_protocol_version(shared: Served) -> None:
    answer = shared.ask(head("GET /environ/ HTTP/1.0", *OFFER))
    assert b'"SERVER_PROTOCOL":"HTTP/1.0"' in answer
    assert b"h2c" not in answer  # the application sees no offer that it could take up


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (("Transfer-Encoding: chunked",), [200, 200]),
        (("Transfer-Encoding: Chunked",), [200, 200]),
        (("Transfer-Encoding:\tCHUNKED \t",), [200, 200]),
        (("Transfer-Encoding: gzip, chunked",), [501]),
        (("Transfer-Encoding: gzip,chunked",), [501]),
        (("Transfer-Encoding: gzip", "Transfer-Encoding: chunked"), [501]),
        (("Transfer-Encoding: identity, chunked",), [501]),
        (("Transfer-Encoding: x;a=b, chunked",), [501]),
        (("Transfer-Encoding: chunked, gzip",), [400]),
        (("Transfer-Encoding: chunked", "Transfer-Encoding: gzip"), [400]),
        (("Transfer-Encoding: chunked, chunked",), [400]),
        (("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), [400]),
        (("Transfer-Encoding: chunked, gzip, chunked",), [400]),
        (("Transfer-Encoding: identity",), [400]),
        (("Transfer-Encoding: gzip",), [400]),
        (("Transfer-Encoding: x-chunked",), [400]),
        (("Transfer-Encoding: xchunked",), [400]),
        (("Transfer-Encoding: chunkedx",), [400]),
        (("Transfer-Encoding: chunked;q=1",), [400]),
        (("Transfer-Encoding: \"chunked\"",), [400]),
        (("Transfer-Encoding: chunked,",), [400]),
        (("Transfer-Encoding: ,chunked",), [400]),
        (("Transfer-Encoding: ",), [400]),
        (("Transfer-Encoding: chunked\xa0",), [400]),
        (("Transfer-Encoding: \x0bchunked",), [400]),
        (("Transfer-Encoding:\r\n chunked",), [400]),
        (("Transfer-Encoding: gzip,\r\n\tchunked",), [400]),
        (("Transfer-Encoding : chunked",), [400]),
        (("Transfer-Encoding: chunked", "Content-Length: 3"), [400]),
        (("Content-Length: 3", "Transfer-Encoding: chunked"), [400]),
        (("Content-Length: 0", "Transfer-Encoding: gzip, chunked"), [400]),
        (("Content-Length: 3", "Transfer-Encoding: identity"), [400]),
    ],
)  # fmt: skip
def test_only_chunked_once_is_a_transfer_coding(shared: Served, fields: tuple[str, ...], expected: list[int]) -> None:
    assert shared.statuses(head(POST, *fields) + HIDDEN_CHUNKS) == expected


@pytest.mark.parametrize("fields", [(CHUNKED,), ("Transfer-Encoding: gzip",), (CHUNKED, "Content-Length: 3")])
def test_transfer_coding_with_http_1_0_is_refused(shared: Served, fields: tuple[str, ...]) -> None:
    assert shared.statuses(head("POST /length HTTP/1.0", *fields) + HIDDEN_CHUNKS) == [400]


@pytest.mark.parametrize(
    "value",
    [
        "+5", "-5", "5 5", "0x5", "5_0", "5.0", "5e0", "5;", "", ",", "5,", "5, 5", "5,5", "five", "\u00b2", "\u00b35",
        "9" * 19, "9" * 5000, "\x0b5", "5\x00", "\"5\"",
    ],
)  # fmt: skip
def test_content_length_that_is_no_number_is_refused(shared: Served, value: str) -> None:
    assert shared.statuses(head(POST, f"Content-Length: {value}") + HIDDEN) == [400]


def test_several_content_lengths_are_refused(shared: Served, subtests: pytest.Subtests) -> None:
    for second in ("5", "6", "0", "05"):
        with subtests.test(second):
            assert shared.statuses(head(POST, "Content-Length: 5", f"content-length: {second}") + HIDDEN) == [400]


def test_decimal_content_length_counts(shared: Served, subtests: pytest.Subtests) -> None:
    for value in ("5", "\t5 ", "005", "0000000000000005"):
        with subtests.test(value):
            assert shared.statuses(head(POST, f"Content-Length: {value}") + b"hello") == [200, 200]
    answer = shared.ask(head("GET /environ/ HTTP/1.1", "Content-Length: 005", "Connection: close") + b"hello")
    assert b'"CONTENT_LENGTH":"5"' in answer


@pytest.mark.parametrize("name", ["Transfer_Encoding", "Content_Length", "Transfer-Encoding_", "Content_length"])
def test_underscore_name_frames_nothing(shared: Served, name: str) -> None:
    value = "chunked" if name.startswith("T") else str(len(HIDDEN))
    assert shared.statuses(head("GET / HTTP/1.1", f"{name}: {value}")) == [200, 200]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"5\r\nhello\r\n0\r\n\r\n", [200, 200]),
        (b"005\r\nhello\r\n000\r\n\r\n", [200, 200]),
        (b"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", [200, 200]),
        (b"5;name\r\nhello\r\n0;a=b;c=\"d\"\r\n\r\n", [200, 200]),
        (b"0\r\n\r\n", [200, 200]),
        (b"0\r\nX-Trailer: yes\r\n\r\n", [200, 200]),
        (b"0x5\r\nhello\r\n0\r\n\r\n", [400]),
        (b"+5\r\nhello\r\n0\r\n\r\n", [400]),
        (b"-5\r\nhello\r\n0\r\n\r\n", [400]),
        (b" 5\r\nhello\r\n0\r\n\r\n", [400]),
        (b"5 \r\nhello\r\n0\r\n\r\n", [400]),
        (b"5\t;a\r\nhello\r\n0\r\n\r\n", [400]),
        (b"5_0\r\nhello\r\n0\r\n\r\n", [400]),
        (b"5,5\r\nhello\r\n0\r\n\r\n", [400]),
        (b"5.\r\nhello\r\n0\r\n\r\n", [400]),
        (b"\r\nhello\r\n0\r\n\r\n", [400]),
        (b";a\r\nhello\r\n0\r\n\r\n", [400]),
        (b"g\r\nhello\r\n0\r\n\r\n", [400]),
        (b"\xb2\r\nhello\r\n0\r\n\r\n", [400]),
        (b"0000000000000000000000005\r\nhello\r\n0\r\n\r\n", [400]),
        (b"10000000000000005\r\nhello\r\n0\r\n\r\n", [400]),
        (b"ffffffffffffffff\r\nhello\r\n0\r\n\r\n", [400]),
        (b"5\nhello\r\n0\r\n\r\n", [400]),
        (b"5\rhello\r\n0\r\n\r\n", [400]),
        (b"5;a\nhello\r\n0\r\n\r\n", [400]),
        (b"5;a=\"\n\"\r\nhello\r\n0\r\n\r\n", [400]),
        (b"5;\x00\r\nhello\r\n0\r\n\r\n", [400]),
        (b"5\r\nhello0\r\n\r\n", [400]),
        (b"5\r\nhello\n0\r\n\r\n", [400]),
        (b"5\r\nhelloXX0\r\n\r\n", [400]),
        (b"5\r\nhello!\r\n0\r\n\r\n", [400]),
        (b"5\r\nhello\r\n0\n\n", [400]),
        (b"5\r\nhello\r\n0\r\n\n", [400]),
        (b"0\r\nnonsense\r\n\r\n", [400]),
        (b"0\r\nX : y\r\n\r\n", [400]),
        (b"0\r\nX: y\r\n z\r\n\r\n", [400]),
        (b"0\r\nX: y\nZ: z\r\n\r\n", [400]),
        (b"0\r\n: y\r\n\r\n", [400]),
        (b"0\r\n\r\nX", [200, 501]),
        (b"0\r\n\r\n0\r\n\r\n", [200, 400]),
    ],
)  # fmt: skip
def test_chunks_have_one_reading(shared: Served, body: bytes, expected: list[int]) -> None:
    assert shared.statuses(head(POST, CHUNKED) + body) == expected


@pytest.mark.parametrize(
    "trailer",
    [
        "Host: globex.localhost", "Authorization: Bearer globex", "Content-Length: 100", "Transfer-Encoding: globex",
        "X-Forwarded-Host: globex", "X-Forwarded-For: 10.0.0.1, globex", "Forwarded: host=globex", "Cookie: a=globex",
        "Connection: close, globex", "Content-Type: globex", "Upgrade: globex", "Expect: globex", "Trailer: globex",
    ],
)  # fmt: skip
def test_trailer_field_has_no_effect(shared: Served, trailer: str) -> None:
    request = head("GET /environ/ HTTP/1.1", CHUNKED) + f"2\r\nhi\r\n0\r\n{trailer}\r\n\r\n".encode()
    assert shared.statuses(request) == [200, 200]
    assert b"globex" not in shared.ask(request + get("/", "Connection: close"))


def test_request_after_a_refused_one_is_not_answered(shared: Served, subtests: pytest.Subtests) -> None:
    refused = {
        "malformed": (b"nonsense\r\n\r\n", 400),
        "no host": (head("GET / HTTP/1.1", host=None), 400),
        "large field": (head("GET / HTTP/1.1", "X-Large: " + "x" * 40_000), 431),
        "long target": (head(f"GET /{'x' * 40_000} HTTP/1.1"), 414),
        "large body": (head(POST, "Content-Length: 3000000"), 413),
        "expectation": (head(POST, "Content-Length: 5", "Expect: nothing") + b"hello", 417),
        "method": (head("BREW / HTTP/1.1"), 501),
    }
    for name, (request, expected) in refused.items():
        with subtests.test(name):
            assert shared.statuses(request) == [expected]
            assert shared.statuses(get("/") + request) == [200, expected]


@pytest.mark.parametrize(
    ("line", "fields", "expected"),
    [
        (POST, ("Expect: 100-continue",), [200, 200]),
        (POST, ("Expect: 100-Continue",), [200, 200]),
        (POST, ("Expect: 100-continue, 100-continue",), [417]),
        (POST, ("Expect: 200-ok",), [417]),
        (POST, ("Expect: 100-continue", "Expect: more"), [417]),
        (POST, ("Expect: ",), [417]),
        ("POST /length HTTP/1.0", ("Expect: 100-continue",), [200]),
        ("POST /length HTTP/1.0", ("Expect: more",), [200]),
    ],
)
def test_unknown_expectation_is_refused(
    shared: Served, line: str, fields: tuple[str, ...], expected: list[int]
) -> None:
    assert shared.statuses(head(line, *fields, "Content-Length: 5") + b"hello") == expected
