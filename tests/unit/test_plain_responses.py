"""A redirect of a direct answer leaves as werkzeug would send it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Response
from hypothesis import given
from hypothesis import strategies as some
from werkzeug.test import EnvironBuilder
from werkzeug.urls import iri_to_uri
from werkzeug.utils import redirect

from app.hub.plain_responses import _PLAIN, found, is_plain, redirect_to, send

ADDRESSES = [
    "https://shop.example/cb?code=a-b_c&state=x%20y%2B%3D&iss=http%3A%2F%2Facme.localhost%3A8000", "http://127.0.0.1:5000/cb?code=a",
    "/login?attempt=a", "/", "https://shop.example/cb", "https://Shop.example/cb?code=a", "https://shop.example/cb#code=a",
    "https://shop.example/c\u00e4b?code=a", "https://b\u00fccher.example/cb?a=\u00fc", "https://shop.example/cb?x=<&code=a", "https://shop.example?code=a",
    "com.example.phone:/cb?code=a", "http://[::1]:80/cb?code=a", "https://user@shop.example/cb?a=b", "//shop.example/cb", "https://shop.example:080/cb",
    "https://shop.example/cb?", "https://shop.example:0/cb", "HTTPS://shop.example/cb?a=b",
]  # fmt: skip


def sent(how: Any, address: str, **changed: Any) -> tuple[str, list[tuple[str, str]], bytes]:
    response: Any = redirect(address, Response=Response)
    response.headers["Set-Cookie"] = "a=b"
    for name, value in changed.items():
        setattr(response, name, value)
    started: list[Any] = []
    environ = EnvironBuilder("/service/oidc/authorize").get_environ()
    body = b"".join(how(response, environ, lambda status, headers, *_: started.append((status, headers))))
    return (*started[0], body)


def by_werkzeug(response: Response, environ: Any, start_response: Any) -> Any:
    return response(environ, start_response)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("changed", [{}, {"status_code": 303}, {"status_code": 200}, {"status_code": 304}])
def test_redirect_is_sent_as_werkzeug_sends_it(address: str, changed: dict[str, Any]) -> None:
    assert sent(send, address, **changed) == sent(by_werkzeug, address, **changed)


@pytest.mark.parametrize("address", [one for one in ADDRESSES if is_plain(one)])
def test_redirect_without_a_response_has_the_same_bytes(address: str) -> None:
    started: list[Any] = []
    start: Any = lambda status, headers: started.append((status, headers))  # noqa: E731 - one line
    body = b"".join(found(address, start))
    status, headers, expected = sent(send, address)
    assert (*started[0], body) == (status, [pair for pair in headers if pair[0] != "Set-Cookie"], expected)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("status", [302, 303])
def test_redirect_is_made_as_flask_makes_it(address: str, status: int) -> None:
    made, expected = redirect_to(address, status), redirect(address, status, Response)
    assert (made.status, made.get_data(), sorted(made.headers)) == (
        expected.status,
        expected.get_data(),
        sorted(expected.headers),
    )


@given(some.from_regex(re.compile(_PLAIN.pattern, re.ASCII), fullmatch=True))
def test_plain_address_is_a_uri_as_it_stands(address: str) -> None:
    assert iri_to_uri(address) == address


def test_usual_addresses_are_plain() -> None:
    assert [bool(_PLAIN.fullmatch(address)) for address in ADDRESSES[:5]] == [True] * 5
    assert not any(_PLAIN.fullmatch(address) for address in ADDRESSES[5:])
