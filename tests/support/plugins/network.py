"""Close the network: a test that reaches for anything but this machine fails. Import nothing from here: pytest loads it.

Every socket of Python is a `socket.socket`, whichever library asks for it. (An audit hook sees the same, but is called for each `id()`,
too, of which SQLAlchemy has thousands in a request.) Names under `.localhost` are this machine (RFC 6761), on systems too whose
resolver does not say so.
"""

import ipaddress
import socket
from collections.abc import Callable
from functools import wraps
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


def guard(host: object) -> None:
    if not is_local(host):
        raise NetworkClosed(f"{host!r} was asked for: tests reach nothing outside this machine")


def guarded(name: str) -> Callable[..., Any]:
    """Return a method of sockets that looks at the address first, which is its last argument."""
    method = getattr(socket.socket, name)

    @wraps(method)
    def call(self: socket.socket, *arguments: Any) -> Any:
        if arguments and isinstance(arguments[-1], tuple):  # of the internet; a socket of this machine has a path
            guard(arguments[-1][0])
        return method(self, *arguments)

    return call


def resolve(host: bytes | str | None, *arguments: Any, **named: Any) -> Any:
    guard(host)
    name = host.decode() if isinstance(host, bytes) else host
    local = name and name.rstrip(".").lower().endswith(".localhost")
    return _resolve("127.0.0.1" if local else host, *arguments, **named)


def pytest_configure() -> None:
    if socket.getaddrinfo is not resolve:
        socket.getaddrinfo = resolve
        for name in ("connect", "connect_ex", "sendto", "sendmsg"):
            setattr(socket.socket, name, guarded(name))
