"""Where a post to a tenant's system may go: whatever notation names an address of ours, nothing is sent there."""

from __future__ import annotations

import socket
from typing import Any

import httpx
import pytest

from app.identity.platform.outbound import target_posts
from app.identity.platform.outbound.target_posts import PostLimits, TargetUnavailable
from app.kit.outbound.host_resolver import Resolver

LIMITS = PostLimits(seconds=5, max_bytes=100, truncates=True)


def as_number(host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
    """Return what the system's look-up returns for a number, without a look-up."""
    return [(0, 0, 0, "", (host if ":" in host else socket.inet_ntoa(socket.inet_aton(host.rstrip("."))), port))]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "127.0.0.1.", "0", "0.0.0.0", "localhost",
        "hooks.localhost", "localhost.", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
        "[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fd00::1]", "[fe80::1]", "10.0.0.1",
        "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "2852039166", "224.0.0.1", "[ff02::1]", "255.255.255.255",
    ],
)  # fmt: skip
def test_address_of_ours_is_refused_in_any_notation(host: str) -> None:
    with pytest.raises(TargetUnavailable, match="not public"):
        target_posts.post(Resolver((), as_number), f"https://{host}:8443/", {}, b"{}", LIMITS)


@pytest.mark.parametrize("host", ["xn--strae-oqa.example", "xn--fa-hia.example", "xn--bcher-kva.example"])
def test_name_is_looked_up_as_the_url_spells_it(host: str) -> None:
    """By the older rules for names, which the system's look-ups follow, the first name would be `strasse.example`: another owner's."""
    asked: list[str] = []

    def resolve(name: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        asked.append(name)
        return [(0, 0, 0, "", ("10.0.0.1", port))]

    with pytest.raises(TargetUnavailable, match="not public"):
        target_posts.post(Resolver((), resolve), f"https://{host}/", {}, b"{}", LIMITS)
    assert asked == [host]


def test_certificate_must_be_of_the_name_in_the_url(monkeypatch: pytest.MonkeyPatch) -> None:
    expected: list[str] = []

    def handle(self: Any, request: Any) -> Any:
        expected.append(request.extensions["sni_hostname"])
        raise httpx.ConnectError("no")

    monkeypatch.setattr("app.identity.platform.outbound.deadlines.DeadlineTransport.handle_request", handle)
    public = Resolver((), lambda *_, **__: [(0, 0, 0, "", ("203.0.114.1", 443))])
    with pytest.raises(TargetUnavailable):
        target_posts.post(public, "https://xn--strae-oqa.example/", {}, b"", LIMITS)
    assert expected == ["xn--strae-oqa.example"]
