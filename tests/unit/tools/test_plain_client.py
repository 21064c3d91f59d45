"""The tests' own client sends what werkzeug's would, and leaves unknown arguments to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from werkzeug.test import Client, EnvironBuilder

from tests.support.visitors.plain_client import FORM, PlainClient, environ_of, is_plain

HOST = "http://acme.localhost:8000"
PLAIN: dict[str, tuple[str, dict[str, Any]]] = {
    "a page": ("/login", {}),
    "a query of the address": ("/login?a=1&b=%C3%A9+x&c", {}),
    "quoted segments": ("/a%2Fb/%C3%A9/%00/%ff/x:y@z", {}),
    "members of a query": (
        "/x", {"query_string": {"a": "é", "b": "a b&c=/?:@+%", "none": None, "number": 1, "two": ["1", "2"]}},
    ),
    "an empty query": ("/x", {"query_string": {}}),
    "JSON": ("/x", {"method": "POST", "json": {"name": "é"}}),
    "JSON of another type": ("/x", {"method": "PUT", "json": [1], "headers": {"Content-Type": "application/scim+json"}}),
    "an empty object": ("/x", {"method": "POST", "json": {}}),
    "bytes": ("/x", {"method": "POST", "data": b"\xff{", "headers": {"content-type": "application/json"}}),
    "text": ("/x", {"method": "POST", "data": "é=1"}),
    "no bytes": ("/x", {"method": "DELETE", "data": b"", "headers": {"Content-Type": "application/json"}}),
    "a form": ("/x", {"method": "POST", "data": {"name": "é & b=/?:@+%", "empty": ""}}),
    "an empty form": ("/x", {"method": "POST", "data": {}}),
    "headers": ("/x", {"headers": {"Authorization": "Basic eDp5", "X-Acme-Key": "1", "Host": "other.example"}}),
    "values of a server": ("/x", {"environ_overrides": {"REMOTE_ADDR": "192.0.2.1", "app.inside": True}}),
    "https": ("/x", {"base_url": "https://acme.example"}),
    "a folder": ("/x", {"base_url": "http://acme.example/identity/"}),
}  # fmt: skip
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "a query in two places": ("/x?a=1", {"query_string": {}}),
    "another host": ("//other.example/x", {}),
    "a fragment": ("/x#part", {}),
    "text beyond ASCII": ("/é", {}),
    "a list as a query": ("/x", {"query_string": [("a", "1"), ("a", "2")]}),
    "a file": ("/x", {"method": "POST", "data": {"file": (None, "name")}}),
    "headers twice": ("/x", {"headers": [("Cookie", "a=1"), ("Cookie", "b=2")]}),
    "a type of its own": ("/x", {"method": "POST", "data": b"x", "content_type": "text/plain"}),
    "an empty form by its type": ("/x", {"method": "POST", "data": "", "headers": {"content-type": FORM}}),
    "another form": ("/x", {"method": "POST", "data": {"a": "1"}, "headers": {"Content-Type": "text/plain"}}),
}


def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    start_response("201 Created", [("Set-Cookie", "seen=1; Path=/"), ("X-Cookie", environ.get("HTTP_COOKIE", "none"))])
    return [environ["wsgi.input"].read()]


def seen(environ: WSGIEnvironment) -> dict[str, Any]:
    return {**environ, "wsgi.input": environ["wsgi.input"].read()}


@pytest.mark.parametrize(("path", "how"), PLAIN.values(), ids=PLAIN)
def test_plain_requests_are_written_as_werkzeug_does(path: str, how: dict[str, Any]) -> None:
    how = {"base_url": HOST, **how}
    assert is_plain(path, how)
    assert seen(environ_of(path, **how)) == seen(EnvironBuilder(path, **how).get_environ())


@pytest.mark.parametrize(("path", "how"), OTHERS.values(), ids=OTHERS)
def test_other_requests_are_left_to_werkzeug(path: str, how: dict[str, Any]) -> None:
    assert not is_plain(path, {"base_url": HOST, **how})
    assert not is_plain("/x", {})


@pytest.mark.parametrize("uses_cookies", [True, False])
def test_cookies_are_stored_unless_the_client_has_none(uses_cookies: bool) -> None:
    both = [kind(application, use_cookies=uses_cookies) for kind in (PlainClient, Client)]
    shown = [[client.post("/x", base_url=HOST, data=b"1").headers["X-Cookie"] for _ in range(2)] for client in both]
    assert shown == [["none", "seen=1" if uses_cookies else "none"]] * 2
    answer = both[0].get("/x", base_url=HOST)
    assert (answer.status_code, answer.data, answer.request.path) == (201, b"", "/x")
