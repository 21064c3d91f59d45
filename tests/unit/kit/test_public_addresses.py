"""Addresses from tenants and providers reach public hosts only, checked at connection time."""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.outbound.host_resolver import AddressRefused, Resolver, is_public
from app.settings import Settings, SettingsError, read
from tests.support.plugins.network import NetworkClosed

PUBLIC = "93.184.216.34"


class Answers:
    """A resolver that answers one list of addresses after the other, and the last from then on."""

    def __init__(self, *answers: list[str]) -> None:
        self._answers = list(answers)
        self.lookups = 0

    def __call__(self, host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        self.lookups += 1
        addresses = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [(2, 1, 6, "", (address, port)) for address in addresses]


class RecordingServer(ThreadingHTTPServer):
    """Answers JSON, and keeps which Host each request named."""

    redirects_to = ""

    def __init__(self, address: str, port: int = 0) -> None:
        super().__init__((address, port), Handler)
        self.hosts: list[str] = []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    server: RecordingServer

    def do_GET(self) -> None:
        self.server.hosts.append(self.headers["Host"])
        self.send_response(302 if self.server.redirects_to else 200)
        if self.server.redirects_to:
            self.send_header("Location", self.server.redirects_to)
        self.end_headers()
        self.wfile.write(b'{"secret": "of the machine"}')

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def inside() -> Iterator[RecordingServer]:
    """What must not be reached: a server on this machine."""
    server = RecordingServer("127.0.0.1")
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def allowed(inside: RecordingServer) -> Iterator[RecordingServer]:
    """What may be reached: a server at another address, at the same port."""
    server = RecordingServer("127.0.0.2", inside.server_port)
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254",
        "192.0.0.8", "198.18.0.1", "192.0.2.1", "203.0.113.9", "192.88.99.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "fe80::1", "fc00::1", "fd12::1",
        "fec0::1", "ff02::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:5db8:d822::1", "2001:0:1::1",
        "2001:db8::1",
    ],
)  # fmt: skip
def test_non_public_address_is_refused(text: str) -> None:
    assert not is_public(ipaddress.ip_address(text))
    with pytest.raises(AddressRefused):
        Resolver(resolve=Answers([text])).addresses("id.example", 443)
    with pytest.raises(AddressRefused):
        Resolver(resolve=Answers([PUBLIC, text])).addresses("id.example", 443)


@pytest.mark.parametrize("text", [PUBLIC, "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_address_is_allowed(text: str) -> None:
    assert Resolver(resolve=Answers([text])).addresses("id.example", 443) == [text]


def url_of(server: RecordingServer, host: str = "id.example") -> str:
    return f"http://{host}:{server.server_port}/keys"


@pytest.mark.parametrize("address", ["127.0.0.1", "::ffff:127.0.0.1"])
def test_name_that_resolves_to_this_machine_is_refused(inside: RecordingServer, address: str) -> None:
    with pytest.raises(ProviderUnavailable, match=r"not public|no address"):
        outbound_http.get_json_object(Resolver(resolve=Answers([address])), url_of(inside))
    assert inside.hosts == []


def test_ip_address_in_a_url_is_checked(inside: RecordingServer) -> None:
    for host in ("127.0.0.1", "2130706433", "0x7f.1", "localhost", "x.localhost"):
        with pytest.raises(ProviderUnavailable):
            outbound_http.get_json_object(Resolver(resolve=Answers(["127.0.0.1"])), url_of(inside, host))
    assert inside.hosts == []


def test_name_is_resolved_once_per_request(inside: RecordingServer, allowed: RecordingServer) -> None:
    """Rebinding: the first answer is good, the second is this machine."""
    answers = Answers(["127.0.0.2"], ["127.0.0.1"])
    resolver = Resolver(["127.0.0.2/32"], answers)
    assert outbound_http.get_json_object(resolver, url_of(allowed)) == {"secret": "of the machine"}
    assert (answers.lookups, allowed.hosts, inside.hosts) == (1, [f"id.example:{allowed.server_port}"], [])
    with pytest.raises(ProviderUnavailable):
        outbound_http.get_json_object(resolver, url_of(allowed))
    assert (answers.lookups, len(allowed.hosts), inside.hosts) == (2, 1, [])


def test_connection_goes_to_the_checked_address(inside: RecordingServer) -> None:
    answers = Answers([PUBLIC], ["127.0.0.1"])
    with pytest.raises(NetworkClosed, match=PUBLIC):
        outbound_http.get_json_object(Resolver(resolve=answers), url_of(inside))
    assert (answers.lookups, inside.hosts) == (1, [])


def test_redirect_is_not_followed(inside: RecordingServer, allowed: RecordingServer) -> None:
    allowed.redirects_to = url_of(inside, "127.0.0.1")
    with pytest.raises(ProviderUnavailable, match="302"):
        outbound_http.get_json_object(Resolver(["127.0.0.2/32"], Answers(["127.0.0.2"])), url_of(allowed))
    assert inside.hosts == []


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "10.1.2.3", "2130706433", "0x7f.1", "10.1.2.3.", "[::ffff:10.0.0.1]", "[fe80::1]"]
)
def test_proxy_is_not_asked_for_a_private_address(
    allowed: RecordingServer, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """A proxy inside the network can reach private addresses; it resolves and checks names itself."""
    monkeypatch.setenv("http_proxy", f"http://127.0.0.2:{allowed.server_port}")
    monkeypatch.delenv("no_proxy", raising=False)
    resolver = Resolver(resolve=Answers([PUBLIC]))
    with pytest.raises(ProviderUnavailable, match=r"not public|no address"):
        outbound_http.get_json_object(resolver, f"http://{host}/latest/meta-data")
    assert allowed.hosts == []
    assert outbound_http.get_json_object(resolver, "http://id.example/keys") == {"secret": "of the machine"}
    assert allowed.hosts == ["id.example"]


def test_unreachable_address_falls_back_to_the_next(allowed: RecordingServer) -> None:
    resolver = Resolver(["127.0.0.0/8"], Answers(["127.0.0.3", "127.0.0.2"]))
    assert outbound_http.get_json_object(resolver, url_of(allowed)) == {"secret": "of the machine"}


def test_local_installation_may_reach_this_machine() -> None:
    assert Settings().reachable_networks == ("127.0.0.0/8", "::1/128")
    assert Settings(hub_domain="id.example.com").reachable_networks == ()
    assert Settings(hub_domain="id.example.com", provider_networks=("10.0.0.0/8",)).reachable_networks == (
        "10.0.0.0/8",
    )
    with pytest.raises(SettingsError, match="GATEHOUSE_PROVIDER_NETWORKS"):
        read({"GATEHOUSE_PROVIDER_NETWORKS": "everywhere"})
