"""A cookie of the hub has the value and the attributes that werkzeug would give it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from flask import Response
from werkzeug.http import dump_cookie, parse_cookie

from app.hub.web import cookies

VALUES = [
    "", "Q9-_.~:x", "a b", 'a"b', "a;b", "a; Path=/evil", "a,b", "a\\b", "a=b",
    "a\r\nSet-Cookie: b=c", "a\n", "caf\u00e9", "\U0001f511", "%41", "\x00", "\x7f",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("lifetime", [None, 0, 3600])
@pytest.mark.parametrize("is_https", [True, False])
def test_cookie_is_written_as_werkzeug_writes_it(
    monkeypatch: pytest.MonkeyPatch, value: str, lifetime: int | None, is_https: bool
) -> None:
    monkeypatch.setattr(cookies, "services", lambda: SimpleNamespace(is_https=is_https))
    response = Response()
    cookies.set_cookie(response, "session", value, lifetime)
    expected: Any = dump_cookie(
        "session",
        value,
        max_age=lifetime,
        secure=is_https,
        httponly=True,
        samesite="Lax",
        sync_expires=False,
        max_size=0,
    )
    (written,) = response.headers.getlist("Set-Cookie")
    assert sorted(written.split("; ")) == sorted(expected.split("; "))
    assert parse_cookie(written.partition("; HttpOnly")[0])["session"] == parse_cookie(expected)["session"] == value
