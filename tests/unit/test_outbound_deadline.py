"""A request to a provider has one deadline for everything: the connection, the header and the body of the answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from time import monotonic, sleep
from typing import Any

import pytest
from joserfc.jwk import ECKey

from app.identity.platform import openid_metadata, outbound
from app.identity.platform.outbound import ProviderUnavailable
from app.kit.clock import FixedClock
from app.kit.public_addresses import Resolver


class Dripping:
    """Sends the header of an answer byte by byte, and never ends it."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.is_closed = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while not self.is_closed.is_set():
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._drip, args=(connection,), daemon=True).start()

    def _drip(self, connection: socket.socket) -> None:
        ends = monotonic() + 5
        with connection:
            try:
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                while monotonic() < ends and not self.is_closed.is_set():
                    connection.sendall(b"a")
                    sleep(0.05)
            except OSError:
                return

    def close(self) -> None:
        self.is_closed.set()
        self.listener.close()


@pytest.fixture
def dripping() -> Iterator[Dripping]:
    server = Dripping()
    yield server
    server.close()


def resolve(host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
    return [(2, 1, 6, "", ("127.0.0.1", port))]


@pytest.mark.parametrize("proxied", ["", "http", "https"])
def test_header_that_drips_is_given_up(dripping: Dripping, monkeypatch: pytest.MonkeyPatch, proxied: str) -> None:
    """Each byte comes before the timeout of the socket, so that alone would wait for ever."""
    monkeypatch.setattr(outbound, "TIMEOUT_SECONDS", 0.3)
    url = f"{proxied or 'http'}://id.example:{dripping.port}/keys"
    if proxied:
        monkeypatch.setenv(f"{proxied}_proxy", f"http://127.0.0.1:{dripping.port}")
        monkeypatch.delenv("no_proxy", raising=False)
    began = monotonic()
    with pytest.raises(ProviderUnavailable, match="ReadTimeout"):
        outbound.get_json_object(Resolver(["127.0.0.0/8"], resolve), url)
    assert monotonic() - began < 2


def test_untrusted_address_takes_no_slot_of_providers(dripping: Dripping, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "TIMEOUT_SECONDS", 0.3)
    monkeypatch.setattr(outbound, "_SLOT_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(outbound, "UNTRUSTED_SLOTS", outbound.RequestSlots(total=0, per_host=1))
    resolver, url = Resolver(["127.0.0.0/8"], resolve), f"http://id.example:{dripping.port}/keys"
    with pytest.raises(ProviderUnavailable, match="InvalidResponse"):
        outbound.get_json_object(resolver, url, is_untrusted=True)
    with pytest.raises(ProviderUnavailable, match="ReadTimeout"):
        outbound.get_json_object(resolver, url)


def test_untrusted_keys_do_not_evict_those_of_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    key = dict(ECKey.generate_key("P-256", {"kid": "1"}).as_dict(private=False))

    def answer(_: Resolver, address: str, **__: Any) -> dict[str, Any]:
        asked.append(address)
        return {"keys": [key]}

    monkeypatch.setattr(outbound, "get_json_object", answer)
    monkeypatch.setattr(openid_metadata, "_MAX_PROVIDERS", 3)
    cache = openid_metadata.ProviderMetadataCache(FixedClock(datetime.now(UTC)), Resolver())
    cache.keys("https://provider.example/keys", "1")
    for number in range(10):
        cache.keys(f"https://stranger{number}.example/keys", "1", is_untrusted=True)
    cache.keys("https://provider.example/keys", "1")
    assert asked.count("https://provider.example/keys") == 1
