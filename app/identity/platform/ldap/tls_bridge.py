"""Carries an LDAP connection over TLS that this process verifies, to an address that it has checked.

libldap uses one end of a pair of sockets; a thread carries its bytes to the server and back. By itself, libldap resolves names
without a deadline and to any address, reads certificates from files, and waits anew for each answer, however many come.
"""

from __future__ import annotations

import os
import selectors
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Final

from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.platform.ldap.ldap_refusals import LdapUnavailable
from app.identity.platform.ldap.ldap_server import LdapServer
from app.identity.platform.outbound.deadlines import Deadline
from app.kit.outbound.host_resolver import AddressRefused, Resolver

MAX_ANSWER_BYTES: Final = 1_000_000
"""Bytes that a server may send on one connection: more than a photo and a thousand groups."""
_PIECE: Final = 16_384
_START_TLS: Final = b"\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037"
"""The LDAP message 1: an extended request with this name (RFC 4511 section 4.14.1)."""
_EXTENDED_RESPONSE: Final = 0x78
_MIN_RESPONSE: Final = 12
_MAX_RESPONSE: Final = 4_096
_SEQUENCE: Final = 0x30
_LONG_FORM: Final = 0x80
_MAX_LENGTH_BYTES: Final = 4
_NOT_YET: Final = (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError)


class TlsBridge:
    """A connection to a directory server. The thread ends with the deadline, or when either side closes."""

    def __init__(self, remote: ssl.SSLSocket, deadline: Deadline) -> None:
        self._remote, self._deadline = remote, deadline
        self._near, self._end = socket.socketpair()
        self._is_too_long = False
        self._thread = Thread(target=self._carry, name="ldap", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def descriptor(self) -> int:
        """Return a file descriptor for libldap, which closes it."""
        return os.dup(self._end.fileno())

    @property
    def problem(self) -> str:
        """Why the bytes stopped; empty where the server closed."""
        if self._is_too_long:
            return f"an answer of more than {MAX_ANSWER_BYTES:,} bytes"
        return "no answer in time" if self._deadline.is_over else ""

    def close(self) -> None:
        """End libldap's side. The thread then closes the other; it alone uses that, because no TLS socket bears two threads."""
        with suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._end.close()

    def _carry(self) -> None:
        with suppress(OSError, ValueError), self._remote, self._near, selectors.DefaultSelector() as selector:
            for each in (self._remote, self._near):
                selector.register(each, selectors.EVENT_READ)
            received = 0
            while not self._deadline.is_over:
                if self._remote.pending() or any(
                    key.fileobj is self._remote for key, _ in selector.select(self._deadline.seconds)
                ):
                    received += self._forward(self._remote, self._near)
                if received > MAX_ANSWER_BYTES:
                    self._is_too_long = True
                    return
                self._forward(self._near, self._remote)

    def _forward(self, source: socket.socket, target: socket.socket) -> int:
        """Carry what a side has sent, and return the number of bytes. Raises ConnectionError where it has closed."""
        source.settimeout(0)
        try:
            content = source.recv(_PIECE)
        except _NOT_YET:
            return 0
        if not content:
            raise ConnectionError
        target.settimeout(_timeout(self._deadline))
        target.sendall(content)
        return len(content)


@contextmanager
def opened(resolver: Resolver, server: LdapServer, deadline: Deadline) -> Iterator[TlsBridge]:
    """Connect to a server, with TLS, and carry bytes until the block ends.

    Raises LdapUnavailable.
    """
    bridge = TlsBridge(_with_tls(_connected(resolver, server, deadline), server, deadline), deadline)
    bridge.start()
    try:
        yield bridge
    finally:
        bridge.close()


def _connected(resolver: Resolver, server: LdapServer, deadline: Deadline) -> socket.socket:
    """Return a connection to the first address of the server that answers. Raises LdapUnavailable."""
    where = f"{server.host}:{server.port}"
    try:
        addresses = resolver.addresses(server.host, server.port, seconds=deadline.seconds)
    except AddressRefused as refusal:
        expected = "a host name with public addresses, or addresses that the operator allows"
        raise LdapUnavailable(
            f"{where}: {refusal}",
            check=ConnectionCheck.LDAP_ADDRESS,
            expected=expected,
            received=f"{server.host}: {refusal}",
        ) from None
    problem = ""
    for address in addresses:
        if deadline.is_over:
            break
        try:
            connection = socket.create_connection((address, server.port), timeout=_timeout(deadline) / 2)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as libldap: else each bind waits 40 ms
        except OSError as refusal:
            problem = refusal.strerror or type(refusal).__name__
        else:
            return connection
    raise LdapUnavailable(
        f"{where} does not answer",
        check=ConnectionCheck.LDAP_CONNECTION,
        expected=f"a directory server at {where}",
        received=problem or "no answer in time",
    )


def _with_tls(plain: socket.socket, server: LdapServer, deadline: Deadline) -> ssl.SSLSocket:
    """Return the connection with TLS, its certificate verified. Raises LdapUnavailable."""
    try:
        plain.settimeout(_timeout(deadline))
        if server.starts_tls:
            _request_tls(plain, deadline)
        plain.settimeout(_timeout(deadline))
        return server.ssl_context().wrap_socket(plain, server_hostname=server.host)
    except ssl.SSLCertVerificationError as refusal:
        raise _tls_refusal(plain, server, refusal.verify_message) from None
    except TimeoutError:
        raise _tls_refusal(plain, server, "no answer in time") from None
    except (OSError, ValueError) as refusal:  # ssl.SSLError is an OSError
        raise _tls_refusal(plain, server, str(getattr(refusal, "reason", "") or refusal)) from None


def _tls_refusal(plain: socket.socket, server: LdapServer, received: str) -> LdapUnavailable:
    plain.close()
    expected = f"TLS 1.2 or newer, with a certificate of {server.host} from a trusted authority"
    text = f"TLS with {server.host} failed: {received}"
    return LdapUnavailable(text, check=ConnectionCheck.LDAP_TLS, expected=expected, received=received)


def _request_tls(plain: socket.socket, deadline: Deadline) -> None:
    """Have the server begin TLS. Reads no byte after its response, so that nothing sent without TLS is taken for a later answer.

    Raises ConnectionError.
    """
    plain.sendall(_START_TLS)
    first, length = _read(plain, 2, deadline)
    if length & _LONG_FORM:
        length = int.from_bytes(_read(plain, min(length & ~_LONG_FORM, _MAX_LENGTH_BYTES), deadline), "big")
    if first != _SEQUENCE or not _MIN_RESPONSE <= length <= _MAX_RESPONSE:
        raise ConnectionError("the answer to StartTLS is no LDAP message")
    message = _read(plain, length, deadline)
    if message[:3] != b"\x02\x01\x01" or message[3] != _EXTENDED_RESPONSE:
        raise ConnectionError("the answer to StartTLS is another LDAP message")
    code = message.find(b"\x0a\x01", 4, 12)
    if code < 0 or message[code + 2] != 0:
        raise ConnectionError("the server refuses StartTLS")


def _timeout(deadline: Deadline) -> float:
    """Return the seconds that are left, never 0, which a socket takes for something else."""
    return max(deadline.seconds, 0.001)


def _read(plain: socket.socket, size: int, deadline: Deadline) -> bytes:
    content = b""
    while len(content) < size:
        plain.settimeout(_timeout(deadline))
        piece = plain.recv(size - len(content))
        if not piece:
            raise ConnectionError("the server closed the connection")
        content += piece
    return content
