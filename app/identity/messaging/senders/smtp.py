"""Sends mails by SMTP. The payload of a `mail`: to, subject, text, and optionally html, sender_name, from_email, reply_to,
language."""

from __future__ import annotations

import smtplib
import socket
import ssl
from contextlib import suppress
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from functools import cached_property
from typing import Any
from urllib.parse import unquote, urlsplit

from app.identity.directory.accounts.identifiers import smtp_address
from app.identity.platform.outbox.sender import DeliveryError, Message, Sender
from app.kit.clock import Clock

TIMEOUT_SECONDS = 20
"""For the connection, and for the reply to each command."""
ACCEPTANCE_TIMEOUT_SECONDS = 600
"""For the reply to a whole mail: giving up earlier causes duplicates (RFC 5321 section 4.5.3.2.6, RFC 1047)."""
_KEEPALIVE = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
"""TCP keepalive: a dead connection is noticed after half a minute, during any command."""
_PERMANENT = range(500, 600)
_WIRE = policy.SMTP.clone(cte_type="7bit")  # not every server takes 8BITMIME, and long lines must be folded


class _Connection(smtplib.SMTP):
    """An SMTP connection with a longer timeout for the reply to a whole mail, and a flag whether one was sent."""

    has_whole_mail = False

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        connected: socket.socket = super()._get_socket(host, port, timeout)  # type: ignore[misc] # as above
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEPALIVE.items():
            if hasattr(socket, name):
                connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        return connected

    def send(self, s: Any) -> None:
        is_end = isinstance(s, bytes) and s.endswith(b"\r\n.\r\n")  # the content goes out in one piece
        self.has_whole_mail = self.has_whole_mail or is_end
        super().send(s)
        if is_end and self.sock is not None:
            self.sock.settimeout(ACCEPTANCE_TIMEOUT_SECONDS)

    def getreply(self) -> tuple[int, bytes]:
        try:
            return super().getreply()
        finally:
            if self.sock is not None:
                self.sock.settimeout(TIMEOUT_SECONDS)


class _TlsConnection(_Connection, smtplib.SMTP_SSL):
    """The same connection over implicit TLS."""


class Smtp(Sender):
    """Delivers mails through one server, over a connection that stays open while there are messages.

    Args:
        url: `smtp://[user:password@]host[:587]` or `smtps://…[:465]`. Over smtp the connection is encrypted by STARTTLS
            if the server offers it, and always before a password is sent.
        sender: the From address.
    """

    def __init__(self, url: str, sender: str, clock: Clock) -> None:
        parts = urlsplit(url)
        self._is_implicit = parts.scheme == "smtps"
        self._host = parts.hostname or "localhost"
        self._port = parts.port or (465 if self._is_implicit else 587)
        self._name, self._password = unquote(parts.username or ""), unquote(parts.password or "")
        self._sender = sender
        self._clock = clock
        self._connection: _Connection | None = None
        self._is_interrupted = False

    def send(self, message: Message) -> None:
        """Deliver one mail. Raises DeliveryError, final if the server refuses it permanently."""
        mail = self._mail(message)
        try:
            connection = self._connect()
            connection.has_whole_mail = False
            connection.send_message(mail)
        except smtplib.SMTPRecipientsRefused as problem:
            code, reason = next(iter(problem.recipients.values()))
            raise DeliveryError(_reply_text(code, reason), is_final=code in _PERMANENT) from None
        except smtplib.SMTPAuthenticationError as problem:
            self.close()
            raise DeliveryError(f"the mail server refuses our name and password ({problem.smtp_code})") from None
        except smtplib.SMTPResponseException as problem:
            self.close()
            raise DeliveryError(
                _reply_text(problem.smtp_code, problem.smtp_error), is_final=problem.smtp_code in _PERMANENT
            ) from None
        except smtplib.SMTPNotSupportedError:
            raise DeliveryError(
                "the mail server takes no addresses beyond ASCII (it does not offer SMTPUTF8, RFC 6531)", is_final=True
            ) from None
        except (smtplib.SMTPException, OSError) as problem:
            has_whole_mail = self._connection is not None and self._connection.has_whole_mail
            is_interrupted, self._is_interrupted = self._is_interrupted and not has_whole_mail, False
            self.close()
            raise DeliveryError(f"{type(problem).__name__}: {problem}", is_interrupted=is_interrupted) from None

    def interrupt(self) -> None:
        """Disconnect, unless the server has the whole mail: it may deliver that, even if its reply is lost."""
        connection = self._connection
        sock = connection.sock if connection is not None and not connection.has_whole_mail else None
        if sock is None:
            return
        self._is_interrupted = True  # before the sending thread can notice
        with suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)  # SSLSocket.shutdown would continue in plain text

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(smtplib.SMTPException, OSError):
                connection.quit()

    def _connect(self) -> _Connection:
        if self._connection is not None:
            return self._connection
        if self._is_implicit:
            connection: _Connection = _TlsConnection(
                self._host, self._port, timeout=TIMEOUT_SECONDS, context=self._tls_context
            )
        else:
            connection = _Connection(self._host, self._port, timeout=TIMEOUT_SECONDS)
            connection.ehlo()
            if connection.has_extn("starttls"):
                connection.starttls(context=self._tls_context)
            elif self._name:
                connection.close()
                raise DeliveryError("the mail server offers no STARTTLS, and a password is never sent in the clear")
        if self._name:
            connection.login(self._name, self._password)
        self._connection = connection
        return connection

    @cached_property
    def _tls_context(self) -> ssl.SSLContext:
        # One for all connections: to read the certificate authorities takes longer than to send a mail.
        return ssl.create_default_context()

    def _mail(self, message: Message) -> EmailMessage:
        payload = message.payload
        mail = EmailMessage(_WIRE)
        try:
            mail["Subject"] = str(payload["subject"])
            mail["From"] = _address(
                str(payload.get("from_email") or self._sender), str(payload.get("sender_name") or "")
            )
            mail["To"] = _address(str(payload["to"]))
            if payload.get("reply_to"):
                mail["Reply-To"] = _address(str(payload["reply_to"]))
        except (KeyError, ValueError, IndexError) as problem:
            raise DeliveryError(f"not a mail: {type(problem).__name__}", is_final=True) from None
        mail["Date"] = format_datetime(self._clock.now())
        domain = smtp_address(self._sender).rpartition("@")[2]
        mail["Message-ID"] = f"<{message.message_id}@{domain}>"  # the same at every attempt
        mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: prevents automatic replies
        mail["X-Auto-Response-Suppress"] = "All"  # the same for Exchange
        _set_content(mail, payload)
        return mail


def _address(text: str, name: str = "") -> Address:
    """Return an address for a header. A non-ASCII one was checked before and is not parsed, because the library would refuse it."""
    local, _, domain = smtp_address(text).rpartition("@")
    if local.isascii():
        return Address(name, addr_spec=f"{local}@{domain}")
    return Address(name, username=local, domain=domain)


def _set_content(mail: EmailMessage, payload: dict[str, Any]) -> None:
    mail.set_content(str(payload.get("text") or ""))
    if payload.get("html"):
        mail.add_alternative(str(payload["html"]), subtype="html")
    if payload.get("language"):
        mail["Content-Language"] = str(payload["language"])


def _reply_text(code: int, reason: bytes | str) -> str:
    text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    return f"{code} {' '.join(text.split())}"
