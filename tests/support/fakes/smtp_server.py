"""A small SMTP server (RFC 5321, STARTTLS, AUTH PLAIN) on this machine, which keeps its mails and can be configured to refuse."""

import base64
import datetime as dt
import socket
import socketserver
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PATIENCE_SECONDS = 120


class Mailbox(socketserver.ThreadingTCPServer):
    """Where mails arrive. `refusals` are answers to RCPT, used up one by one. While `may_acknowledge` is not set, a mail is
    accepted without a reply to the sender; with `seconds_a_mail` the reply comes late. With
    `takes_data` cleared it stops answering at DATA, which `at_data` tells."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, tls: ssl.SSLContext | None = None, login: str = "", port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Dialogue)
        self.tls = tls
        self.login = login
        self.mails: list[EmailMessage] = []
        self.refusals: list[str] = []
        self.was_encrypted: list[bool] = []
        self.raw: list[bytes] = []
        self.envelopes: list[list[str]] = []
        self.takes_utf8 = False
        self.may_acknowledge = threading.Event()
        self.may_acknowledge.set()
        self.seconds_a_mail = 0.0
        self.at_data, self.takes_data = threading.Event(), threading.Event()
        self.takes_data.set()
        self._open: set[socket.socket] = set()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def finish_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        try:
            super().finish_request(request, client_address)
        finally:
            self._open.discard(request)

    def go_away(self) -> None:
        """Go down: the port closes, and every connection ends."""
        self.shutdown()
        self.server_close()
        self.hang_up()

    def hang_up(self) -> None:
        """End every conversation."""
        self.may_acknowledge.set()
        self.takes_data.set()
        for item in list(self._open):
            with suppress(OSError):
                item.shutdown(socket.SHUT_RDWR)


class Dialogue(socketserver.StreamRequestHandler):
    server: Mailbox
    encrypted = False

    def setup(self) -> None:
        super().setup()
        self.envelope: list[str] = []

    def handle(self) -> None:
        with suppress(ssl.SSLError, ConnectionError):  # a client that does not trust us leaves, or is killed
            self.listen()

    def listen(self) -> None:
        self.reply("220 here")
        while line := self.rfile.readline():
            word, _, rest = line.decode().strip().partition(" ")
            if word.upper() == "QUIT":
                self.reply("221 bye")
                return
            self.answer(word.upper(), rest)

    def reply(self, *lines: str) -> None:
        for number, line in enumerate(lines, 1):
            self.wfile.write((line if number == len(lines) else line.replace(" ", "-", 1)).encode() + b"\r\n")

    def answer(self, word: str, rest: str) -> None:
        if word == "EHLO":
            offers = ["250 STARTTLS"] if self.server.tls and not self.encrypted else []
            utf8 = ["250 SMTPUTF8", "250 8BITMIME"] if self.server.takes_utf8 else []
            self.reply("250 here", *offers, *utf8, "250 AUTH PLAIN")
        elif word == "STARTTLS" and self.server.tls:
            self.reply("220 go on")
            self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
            self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
            self.encrypted = True
        elif word == "AUTH":
            shown = base64.b64decode(rest.partition(" ")[2]).decode().replace("\0", ":").lstrip(":")
            self.reply("235 welcome" if shown == self.server.login else "535 no")
        elif word == "RCPT" and self.server.refusals:
            self.reply(self.server.refusals.pop(0))
        elif word == "DATA":
            self.server.envelopes.append(self.envelope)
            self.envelope = []
            self.server.at_data.set()
            self.server.takes_data.wait(PATIENCE_SECONDS)
            self.reply("354 go on")
            self.take()
        else:
            if word in ("MAIL", "RCPT"):
                self.envelope.append(rest)
            self.reply("250 ok")

    def take(self) -> None:
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            if not line:
                return  # who hangs up in the middle has sent nothing
            lines.append(line[1:] if line.startswith(b"..") else line)
        self.server.raw.append(b"".join(lines))
        self.server.mails.append(message_from_bytes(b"".join(lines), policy=policy.default))
        self.server.was_encrypted.append(self.encrypted)
        time.sleep(self.server.seconds_a_mail)
        self.server.may_acknowledge.wait(PATIENCE_SECONDS)
        self.reply("250 taken")


@contextmanager
def mailbox(tls: ssl.SSLContext | None = None, login: str = "", port: int = 0) -> Iterator[Mailbox]:
    with Mailbox(tls, login, port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            server.hang_up()
            thread.join()


def certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """Make a certificate for localhost; returns the server's context and the file that a client must trust."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number(), now, now + dt.timedelta(days=1)
        )
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file, key_file = folder / "certificate.pem", folder / "key.pem"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    parts = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    key_file.write_bytes(key.private_bytes(*parts))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key_file)
    return context, file
