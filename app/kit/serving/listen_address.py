"""Addresses to listen on: `host:port`, `[ipv6]:port`, `unix:/path`."""

import contextlib
import ctypes
import socket
import struct
from pathlib import Path

BACKLOG = 1024
SO_ATTACH_FILTER = 26
DROP_NEW = (
    (0x30, 0, 0, 13),  # take the flags of the TCP header
    (0x54, 0, 0, 0x12),  # of them SYN and ACK
    (0x15, 0, 1, 0x02),  # SYN alone?
    (0x06, 0, 0, 0),  # then drop,
    (0x06, 0, 0, 0xFFFFFFFF),  # else keep
)
"""Classic BPF: code, jump if true, jump if false, operand."""


def listen(bind: str) -> socket.socket:
    """Open the listening socket.

    Raises:
        ValueError: `bind` is not such an address.
        OSError: it is taken, or not ours; the message says which address.
    """
    if bind.startswith("unix:"):
        listener = _unix(bind.removeprefix("unix:"))
    else:
        host, port = split(bind)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            listener.close()
            raise OSError(error.errno, f"cannot listen on {bind}: {error.strerror}") from error
    listener.listen(BACKLOG)
    listener.setblocking(False)
    return listener


def split(bind: str) -> tuple[str, int]:
    """`127.0.0.1:8000` as host and port; an empty host means every address."""
    host, colon, port = bind.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535 or (":" in host and not host.startswith("[")):
        raise ValueError(f"{bind!r} is not an address to listen on: give HOST:PORT, [IPV6]:PORT or unix:/PATH")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 -- an empty host is the operator's choice


def name_of(listener: socket.socket) -> str:
    """Return where `listener` listens, in the form of `bind`, with the real port if it was 0."""
    name = listener.getsockname()
    if isinstance(name, str):
        return f"unix:{name}"
    return f"[{name[0]}]:{name[1]}" if listener.family == socket.AF_INET6 else f"{name[0]}:{name[1]}"


def reject_new_connections(listener: socket.socket) -> None:
    """Drop new connections, but let handshakes in progress finish (Linux only).

    Closing a listening socket resets the connections it has not accepted yet, and some always arrive between the last
    accept and the close. A socket filter that drops new SYN segments stops them first; those clients retry a second
    later and get a clean connection refusal.
    """
    program = b"".join(struct.pack("=HBBI", *instruction) for instruction in DROP_NEW)
    code = ctypes.create_string_buffer(program)
    with contextlib.suppress(OSError):
        filter_ = struct.pack("@HP", len(DROP_NEW), ctypes.addressof(code))
        listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, filter_)


def _unix(path: str) -> socket.socket:
    if Path(path).is_socket():
        Path(path).unlink()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    Path(path).chmod(0o666)  # the proxy in front runs as another user; the folder's permissions restrict access
    return listener
