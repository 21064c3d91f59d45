"""A request to a provider has one deadline for everything: the connection, the header and the body of the answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from time import monotonic, sleep
from typing import Any

import pytest
from joserfc.jwk import ECKey

from app.identity.platform.outbound import bounded_transport, openid_metadata, outbound_http
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.clock import FixedClock
from app.kit.outbound import host_resolver
from app.kit.outbound.bounded_lookups import Lookups
from app.kit.outbound.dns_records import DnsRecords
from app.kit.outbound.host_resolver import Resolver
from tests.support.fakes.dns_server import FakeDns


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
        ends = monotonic() + 20
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
    monkeypatch.setattr(bounded_transport, "TIMEOUT_SECONDS", 1)
    url = f"{proxied or 'http'}://id.example:{dripping.port}/keys"
    if proxied:
        monkeypatch.setenv(f"{proxied}_proxy", f"http://127.0.0.1:{dripping.port}")
        monkeypatch.delenv("no_proxy", raising=False)
    began = monotonic()
    with pytest.raises(ProviderUnavailable, match="no complete answer within"):
        outbound_http.get_json_object(Resolver(["127.0.0.0/8"], resolve), url)
    assert monotonic() - began < 15, "the server drips for 20 seconds"


def test_untrusted_address_takes_no_slot_of_providers(dripping: Dripping, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_transport, "TIMEOUT_SECONDS", 0.3)
    monkeypatch.setattr(bounded_transport, "_SLOT_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(bounded_transport, "UNTRUSTED_SLOTS", bounded_transport.RequestSlots(total=0, per_host=1))
    resolver, url = Resolver(["127.0.0.0/8"], resolve), f"http://id.example:{dripping.port}/keys"
    with pytest.raises(ProviderUnavailable, match="too many calls wait"):
        outbound_http.get_json_object(resolver, url, is_untrusted=True)
    with pytest.raises(ProviderUnavailable, match="no complete answer within"):
        outbound_http.get_json_object(resolver, url)


def test_untrusted_keys_do_not_evict_those_of_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    requested: list[str] = []
    key = dict(ECKey.generate_key("P-256", {"kid": "1"}).as_dict(private=False))

    def answer(_: Resolver, address: str, **__: Any) -> dict[str, Any]:
        requested.append(address)
        return {"keys": [key]}

    monkeypatch.setattr(outbound_http, "get_json_object", answer)
    monkeypatch.setattr(openid_metadata, "_MAX_PROVIDERS", 3)
    cache = openid_metadata.ProviderMetadataCache(FixedClock(datetime.now(UTC)), Resolver())
    cache.keys("https://provider.example/keys", "1")
    for number in range(10):
        cache.keys(f"https://stranger{number}.example/keys", "1", is_untrusted=True)
    cache.keys("https://provider.example/keys", "1")
    assert requested.count("https://provider.example/keys") == 1


class TestNames:
    """The look-up of a name counts in the deadline, although nothing can interrupt it."""

    @pytest.fixture
    def silent(self, fake_dns: FakeDns, monkeypatch: pytest.MonkeyPatch) -> Resolver:
        """A resolver whose DNS server never answers; it would wait for four seconds."""
        fake_dns.is_silent = True
        monkeypatch.setattr(bounded_transport, "TIMEOUT_SECONDS", 0.3)
        monkeypatch.setattr(bounded_transport, "_SLOT_WAIT_SECONDS", 0.3)
        records = DnsRecords((f"127.0.0.1:{fake_dns.port}",), seconds=4)
        return Resolver(["127.0.0.0/8"], lambda host, _port, **_: [records.texts(host)])

    def looking_up(self) -> int:
        return sum(thread.name == "look-up" for thread in threading.enumerate())

    def test_silent_dns_server_is_given_up(self, silent: Resolver) -> None:
        began = monotonic()
        with pytest.raises(ProviderUnavailable, match="no address"):
            outbound_http.get_json_object(silent, "https://id.example/keys")
        assert monotonic() - began < 2

    def test_look_ups_leave_a_bounded_number_of_threads(
        self, silent: Resolver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(host_resolver, "UNTRUSTED_LOOKUPS", Lookups(3))
        monkeypatch.setattr(host_resolver, "LOOKUPS", Lookups(2))
        before = self.looking_up()

        def ask(number: int, *, is_untrusted: bool) -> None:
            with pytest.raises(ProviderUnavailable):
                outbound_http.get_json_object(silent, f"https://id{number}.example/keys", is_untrusted=is_untrusted)

        began = monotonic()
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda number: ask(number, is_untrusted=True), range(12)))
        assert self.looking_up() - before == 3
        assert monotonic() - began < 4
        ask(99, is_untrusted=False)
        assert self.looking_up() - before == 4, "names of unauthenticated callers take no thread of providers"

    def test_thread_is_free_again_when_the_system_gives_up(self) -> None:
        lookups, ends = Lookups(1), threading.Event()
        with pytest.raises(TimeoutError):
            lookups.run(lambda: ends.wait(30), 0.05)
        with pytest.raises(TimeoutError):
            lookups.run(lambda: 1, 0.05)
        ends.set()
        assert lookups.run(lambda: 2, 10) == 2

    def test_error_of_a_look_up_is_raised_and_frees_its_thread(self) -> None:
        lookups = Lookups(1)
        for _ in range(3):
            with pytest.raises(OSError, match="unknown"):
                lookups.run(self._fail, 10)
        assert lookups.run(lambda: 2, 10) == 2

    @staticmethod
    def _fail() -> None:
        raise OSError("unknown name")

    @pytest.mark.parametrize("host", ["8.8.8.8", "2606:4700::1111"])
    def test_number_needs_no_thread(self, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(host_resolver, "LOOKUPS", Lookups(1))
        assert host_resolver.LOOKUPS._free.acquire(blocking=False)
        answer = Resolver(resolve=lambda name, port, **_: [(2, 1, 6, "", (name, port))])
        assert answer.addresses(host, 443) == [host]
