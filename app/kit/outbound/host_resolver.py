"""Resolves untrusted host names to public addresses, and to private addresses that the operator allows."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

from app.kit.outbound.bounded_lookups import Lookups
from app.kit.web.proxies import IpAddress, Network, is_local

Resolve = Callable[..., Sequence[tuple[Any, ...]]]
"""`socket.getaddrinfo`, or a function with its result."""

_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052: the IPv4 address is the last 32 bits
_NEVER: Final[tuple[Network, ...]] = tuple(
    ipaddress.ip_network(text)
    for text in (
        "192.0.0.0/24",  # protocol assignments (RFC 6890)
        "192.88.99.0/24",  # 6to4 relays (RFC 7526)
        "::/96",  # IPv4-compatible (RFC 4291 section 2.5.5.1)
        "64:ff9b:1::/48",  # NAT64 of a network's own (RFC 8215)
        "2001::/32",  # Teredo (RFC 4380)
        "2002::/16",  # 6to4 (RFC 3056)
        "fec0::/10",  # site-local (RFC 3879)
    )
)


LOOKUPS = Lookups(32)
UNTRUSTED_LOOKUPS = Lookups(16)
"""Look-ups of untrusted names have separate threads, so that hanging ones do not delay the others."""
LOOKUP_SECONDS: Final = 5.0


class AddressRefused(Exception):
    """The name resolves to an address that is not allowed, or to none in time."""


class AddressMissing(AddressRefused):
    """The name resolves to no address, or not in time."""


def is_public(address: IpAddress) -> bool:
    """Return whether the address is public: not private, loopback, link-local, multicast, reserved, nor a tunnel.

    An IPv4 address embedded in an IPv6 one (mapped, NAT64) is checked itself.
    """
    inner = _embedded(address)
    if any(inner in network for network in _NEVER if network.version == inner.version):
        return False
    is_special = inner.is_multicast or inner.is_unspecified or inner.is_reserved or inner.is_link_local
    return inner.is_global and not is_special


class Resolver:
    """Resolves a host and checks every address.

    Args:
        allowed: networks that are allowed although they are not public.
    """

    def __init__(self, allowed: Iterable[str] = (), resolve: Resolve | None = None) -> None:
        self._allowed = tuple(ipaddress.ip_network(text, strict=False) for text in allowed)
        self._resolve = resolve

    def addresses(
        self, host: str, port: int, *, seconds: float = LOOKUP_SECONDS, is_untrusted: bool = False
    ) -> list[str]:
        """Return the addresses to connect to. The caller connects to one of these and must not resolve the name again.

        A name below `localhost` is this machine (RFC 6761 section 6.3).

        Args:
            seconds: how long the look-up may take.
            is_untrusted: whether anyone can choose the name.

        Raises:
            AddressRefused: the name has no address, or one of its addresses is neither public nor allowed.
        """
        if is_local(host):
            resolved = ["127.0.0.1"]
        else:
            look_up = partial(self._resolve or socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
            lookups = UNTRUSTED_LOOKUPS if is_untrusted else LOOKUPS
            try:
                results = look_up() if _numeric_address(host) else lookups.run(look_up, seconds)
            except (OSError, UnicodeError):  # TimeoutError is an OSError
                raise AddressMissing("the name has no address") from None
            resolved = list(dict.fromkeys(str(result[4][0]).partition("%")[0] for result in results))
        if not resolved:
            raise AddressMissing("the name has no address")
        if not all(self._is_allowed(text) for text in resolved):
            raise AddressRefused("the name leads to an address that is not public")
        return resolved

    def check_numeric_host(self, host: str) -> None:
        """Check a host that is an IP address in any notation (`127.1`, `0x7f000001`); names pass. Raises AddressRefused.

        For connections through a proxy, which resolves names itself but connects to any IP address.
        """
        number = _numeric_address(host.partition("%")[0].rstrip("."))
        if number is not None and not self._is_allowed(number):
            raise AddressRefused("the number is an address that is not public")

    def _is_allowed(self, text: str) -> bool:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return False
        inner = _embedded(address)
        return is_public(address) or any(
            inner in network for network in self._allowed if network.version == inner.version
        )


def _numeric_address(host: str) -> str | None:
    """Return the IP address that resolvers read from a host in numeric notation; None for a name."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except (OSError, UnicodeError, ValueError):
        return None


def _embedded(address: IpAddress) -> IpAddress:
    """Return the IPv4 address embedded in an IPv6 address, else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else address
