"""Servers that take a connection for LDAP and misbehave, on 127.0.0.1."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Behaviour = Callable[[socket.socket, threading.Event], None]
STARTED = b"\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00"
"""The response by which a server begins TLS."""
BOUND = b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00"
"""The response to a successful bind with the message id 1."""


@contextmanager
def server(behave: Behaviour) -> Iterator[int]:
    """Serve each connection by a function until the block ends; yield the port."""
    ended = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while not ended.is_set():
            with suppress(OSError):
                connection, _ = listener.accept()
                threading.Thread(target=run, args=(connection,), daemon=True).start()

    def run(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            behave(connection, ended)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        ended.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def stays_silent(_: socket.socket, ended: threading.Event) -> None:
    ended.wait(60)


def responds(text: bytes) -> Behaviour:
    """Return a server that answers the first bytes with these, and then says nothing."""

    def behave(connection: socket.socket, ended: threading.Event) -> None:
        connection.recv(4_096)
        connection.sendall(text)
        ended.wait(60)

    return behave


def drips(connection: socket.socket, ended: threading.Event) -> None:
    """Answer without end, one byte at a time."""
    connection.recv(4_096)
    connection.sendall(b"\x30\x82\x0f\xff")
    while not ended.wait(0.02):
        connection.sendall(b"\0")


def hangs_after_tls(context: ssl.SSLContext) -> Behaviour:
    """Return a server that completes TLS, and answers no operation."""

    def behave(connection: socket.socket, ended: threading.Event) -> None:
        with context.wrap_socket(connection, server_side=True) as encrypted:
            encrypted.recv(4_096)
            ended.wait(60)

    return behave


def refuses_bind(context: ssl.SSLContext, info: str) -> Behaviour:
    """Return a server that refuses the first bind with this text, as Active Directory does."""
    text = info.encode()
    operation = b"\x0a\x01\x31\x04\x00\x04" + bytes([len(text)]) + text
    message = b"\x02\x01\x01\x61" + bytes([len(operation)]) + operation

    def behave(connection: socket.socket, ended: threading.Event) -> None:
        with context.wrap_socket(connection, server_side=True) as encrypted:
            encrypted.recv(4_096)
            encrypted.sendall(b"\x30" + bytes([len(message)]) + message)
            ended.wait(60)

    return behave


def drips_after_tls(context: ssl.SSLContext) -> Behaviour:
    """Return a server whose answer to the first operation never ends: one byte at a time."""

    def behave(connection: socket.socket, ended: threading.Event) -> None:
        with context.wrap_socket(connection, server_side=True) as encrypted:
            encrypted.recv(4_096)
            encrypted.sendall(b"\x30\x84\x00\x0f\xff\xff\x02\x01\x01\x61")
            while not ended.wait(0.02):
                encrypted.sendall(b"\0")

    return behave
