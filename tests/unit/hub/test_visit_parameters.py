"""Query, form and headers of a request are read as the URL Standard, RFC 7578 and RFC 9110 say, whatever was sent."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from app.hub.web.parameters import MAX_FORM_BYTES, MAX_FORM_PARTS
from app.hub.web.visit import Visit
from app.kit.serving.http1.request_body import UnreadBody

URL_ENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=B"
READ: dict[str, list[tuple[str, str]]] = {
    "": [],
    "&&": [],
    "a=1&b=2&a=3": [("a", "1"), ("a", "3"), ("b", "2")],
    "a=&b&=c": [("a", ""), ("b", ""), ("", "c")],
    "a=b=c": [("a", "b=c")],
    "a=1;b=2": [("a", "1;b=2")],
    "a+b=c+d%2B": [("a b", "c d+")],
    "%61%3D=%26%00": [("a=", "&\0")],
    "a=%C3%A4": [("a", "ä")],
    "a=%ff%C3%a4&%C3=1": [("a", "%FFä"), ("%C3", "1")],
    "a=%&b=%zz&c=%4": [("a", "%"), ("b", "%zz"), ("c", "%4")],
    "a=%ED%A0%80": [("a", "%ED%A0%80")],
    "a=\u00c3\u00a4": [("a", "ä")],
}
"""Text, one character for each byte, and the parameters in it, by name."""


def posted(body: bytes, content_type: str | None = URL_ENCODED, **environ: Any) -> Visit:
    kind = {} if content_type is None else {"CONTENT_TYPE": content_type}
    read = {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body), **kind, **environ}
    return Visit(is_post=True, environ={name: value for name, value in read.items() if value is not None})


def part(name: str, value: str, more: str = "") -> bytes:
    return f'--B\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n'.encode()


def fields(visit: Visit) -> list[tuple[str, str]]:
    return list(visit.form.items(multi=True))


@pytest.mark.parametrize("text", READ)
def test_query_is_read_with_repeated_and_empty_values(text: str) -> None:
    visit = Visit(environ={"QUERY_STRING": text})
    assert list(visit.query.items(multi=True)) == READ[text]
    assert visit.query_text == text


@pytest.mark.parametrize("text", READ)
@pytest.mark.parametrize("kind", [URL_ENCODED, f"{URL_ENCODED}; charset=iso-8859-1", f" {URL_ENCODED.upper()} "])
def test_form_is_read_as_a_query_whatever_its_charset(text: str, kind: str) -> None:
    assert fields(posted(text.encode("latin-1"), kind)) == READ[text]


def test_first_value_of_a_repeated_name_counts() -> None:
    visit = posted(b"a=1&a=2", QUERY_STRING="b=1&b=2")
    assert (visit.form["a"], visit.form.getlist("a"), visit.query["b"]) == ("1", ["1", "2"], "1")


def test_query_bytes_that_are_no_utf8_stay_percent_encoded() -> None:
    assert Visit(environ={"QUERY_STRING": "a=\xff&b=\xe4c"}).query.to_dict() == {"a": "%FF", "b": "%E4c"}


def test_body_that_is_no_utf8_is_an_empty_form() -> None:
    assert fields(posted(b"a=1&b=\xff")) == []


def test_body_of_another_kind_is_no_form() -> None:
    for kind in (
        "application/json",
        "text/plain",
        "application/x-url-encoded",
        "multipart/mixed; boundary=B",
        "",
        None,
    ):
        assert fields(posted(b"a=1", kind)) == []


def test_body_of_another_method_is_not_read() -> None:
    stream = BytesIO(b"a=1")
    visit = Visit(
        environ={"REQUEST_METHOD": "GET", "CONTENT_TYPE": URL_ENCODED, "CONTENT_LENGTH": "3", "wsgi.input": stream}
    )
    assert (fields(visit), stream.tell()) == ([], 0)


def test_multipart_form_has_its_fields_in_order_and_no_files() -> None:
    body = part("a", "1") + part("f", "x", '; filename="x.txt"') + part("a", "ä\0") + part("", "e") + b"--B--\r\n"
    for kind in (MULTIPART, 'Multipart/Form-Data; charset=latin1; boundary="B"'):
        assert fields(posted(body, kind)) == [("a", "1"), ("a", "ä\0"), ("", "e")]


def test_charset_of_a_part_is_used_if_it_is_a_safe_one() -> None:
    body = part("a", "\u00e4", '"\r\nContent-Type: text/plain; charset=iso-8859-1').replace("\u00e4".encode(), b"\xe4")
    other = body.replace(b"iso-8859-1", b"utf-16")
    assert fields(posted(body + b"--B--", MULTIPART)) == [("a", "ä")]
    assert fields(posted(other + b"--B--", MULTIPART)) == [("a", "\ufffd")]


@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=C"]
)
def test_multipart_form_without_its_boundary_is_empty(kind: str) -> None:
    assert fields(posted(part("a", "1") + b"--B--\r\n", kind)) == []


def test_multipart_form_that_does_not_end_is_empty() -> None:
    assert fields(posted(part("a", "1"), MULTIPART)) == []


def test_longest_form_is_read_and_a_longer_one_refused() -> None:
    assert len(posted(b"a=" + b"x" * (MAX_FORM_BYTES - 2)).form["a"]) == MAX_FORM_BYTES - 2
    for kind in (URL_ENCODED, MULTIPART, "application/json", None):
        with pytest.raises(RequestEntityTooLarge):
            _ = posted(b"a=" + b"x" * MAX_FORM_BYTES, kind).form


def test_body_without_a_length_is_read_up_to_the_limit() -> None:
    chunked: dict[str, Any] = {
        "CONTENT_LENGTH": None,
        "HTTP_TRANSFER_ENCODING": "chunked",
        "wsgi.input_terminated": True,
    }
    assert fields(posted(b"a=1", **chunked)) == [("a", "1")]
    assert len(posted(b"a=" + b"x" * MAX_FORM_BYTES, **chunked).form["a"]) == MAX_FORM_BYTES - 2


def test_body_over_the_limit_of_the_server_is_refused() -> None:
    unread: dict[str, Any] = {"CONTENT_LENGTH": None, "wsgi.input": UnreadBody(), "wsgi.input_terminated": True}
    with pytest.raises(RequestEntityTooLarge):
        _ = posted(b"", **unread).form


def test_form_with_too_many_parts_is_refused() -> None:
    assert len(fields(posted(part("a", "1") * MAX_FORM_PARTS + b"--B--\r\n", MULTIPART))) == MAX_FORM_PARTS
    with pytest.raises(RequestEntityTooLarge):
        _ = posted(part("a", "1") * (MAX_FORM_PARTS + 1) + b"--B--\r\n", MULTIPART).form


def test_refused_form_is_empty_for_its_error_page() -> None:
    visit = posted(b"attempt=" + b"x" * MAX_FORM_BYTES)
    with pytest.raises(RequestEntityTooLarge):
        _ = visit.form
    assert fields(visit) == []


def test_false_lengths_are_not_trusted() -> None:
    assert fields(posted(b"a=1&b=2", CONTENT_LENGTH="3")) == [("a", "1")]
    for length in ("", "x", "-1", "+5", None):  # of a stream that may not end
        assert fields(posted(b"a=1", CONTENT_LENGTH=length)) == []
    with pytest.raises(ClientDisconnected):
        _ = posted(b"a=1", CONTENT_LENGTH="10").form


def test_form_and_query_are_read_once() -> None:
    visit = posted(b"a=1", QUERY_STRING="b=2")
    assert visit.form is visit.form
    assert visit.query is visit.query


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("/login", "/login"),
        ("", "/"),
        ("//evil.example", "/evil.example"),
        ("/\u00c3\u00a4", "/ä"),
        ("/\xff", "/\ufffd"),
    ],
)
def test_path_is_decoded_and_names_no_host(raw: str, path: str) -> None:
    assert Visit(environ={"PATH_INFO": raw}).path == path


def test_headers_are_found_in_any_letter_case() -> None:
    headers = Visit(environ={"HTTP_AUTHORIZATION": "Bearer x", "CONTENT_TYPE": "text/plain"}).headers
    assert headers.get("authorization") == headers.get("AUTHORIZATION") == "Bearer x"
    assert headers.get("Content-Type") == "text/plain"
    assert headers.get("Origin", "") == ""
    assert "Origin" not in headers


def test_visit_outside_of_a_request_has_nothing() -> None:
    visit = Visit()
    assert (visit.method, visit.path, visit.query_text) == ("GET", "/", "")
    assert not visit.query
    assert not visit.form
    assert not list(visit.headers)
