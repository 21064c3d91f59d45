"""Close the network: a test that reaches for anything but this machine fails. Import nothing from here: pytest loads it.

An audit hook sees every socket that Python opens, whichever library asked for it. It cannot be taken away again, so it is
set by the test run alone. Names under `.localhost` are this machine (RFC 6761), on systems too whose resolver does not say so.
"""

import ipaddress
import socket
import sys
from typing import Any

LOCAL_NAMES = frozenset({"localhost", "", "0.0.0.0", "::"})
_resolve = socket.getaddrinfo


class NetworkClosed(BaseException):
    """A test asked for the world outside. Not an Exception, so that no retry or fallback swallows it."""


def is_local(host: object) -> bool:
    name = (host.decode() if isinstance(host, bytes | bytearray) else str(host or "")).rstrip(".").lower()
    if name in LOCAL_NAMES or name.endswith(".localhost") or name == socket.gethostname().lower():
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def guard(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    if not is_local(host):
        raise NetworkClosed(f"{event} of {host!r}: tests reach nothing outside this machine")


def resolve(host: bytes | str | None, *arguments: Any, **named: Any) -> Any:
    name = host.decode() if isinstance(host, bytes) else host
    local = name and name.rstrip(".").lower().endswith(".localhost")
    return _resolve("127.0.0.1" if local else host, *arguments, **named)


def pytest_configure() -> None:
    if socket.getaddrinfo is not resolve:
        sys.addaudithook(guard)
        socket.getaddrinfo = resolve
