"""What a process keeps of the texts that clients send."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from app.hub.locale import parse_accept_language
from app.identity.directory.accounts.identifiers import normalize_email
from app.identity.protocols.oauth.sender_constraints import client_keys
from app.kit.operations.server import header_name
from app.kit.serving.http1.request_head import key_of
from app.kit.web.proxies import is_host, network_of

LONG = 30_000
KEY_SET = (
    '{{"keys": [{{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "kid": "{}"}}]}}'
)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (is_host, "{}a"),
        (network_of, "{}"),
        (key_of, "x-{}"),
        (key_of, "x_{}"),
        (header_name, "HTTP_X_{}"),
        (parse_accept_language, "de,{}"),
        (normalize_email, "{}@example.com"),
        (client_keys._imported, KEY_SET),
    ],
)
def test_long_texts_of_clients_are_not_cached(function: Callable[[Any], object], text: str) -> None:
    def call(number: int) -> None:
        sent = text.format(f"{number}".rjust(LONG, "a"))
        function(sent.encode() if function is key_of else sent)

    call(0)
    tracemalloc.start()
    try:
        for number in range(1, 101):
            call(number)
        traced_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert traced_bytes < 20 * LONG


def test_short_texts_are_read_once() -> None:
    assert key_of(b"X-Request-Id") is key_of(b"X-Request-Id")
