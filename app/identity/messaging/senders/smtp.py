"""Mail by SMTP. The payload of a `mail`: to, subject, text, and where wanted html, sender_name, reply_to, language."""

from __future__ import annotations

import smtplib
import socket
import ssl
from contextlib import suppress
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from app.identity.directory.accounts.identifiers import smtp_address
from app.identity.platform.outbox.claims import Message
from app.identity.platform.outbox.sender import DeliveryError, Sender
from app.kit.clock import Clock

SECONDS = 20
"""For the connection, and for the answer to each command."""
ACCEPTANCE_SECONDS = 600
"""For the answer to a whole mail: giving up earlier causes duplicates (RFC 5321 section 4.5.3.2.6, RFC 1047)."""
_ALIVE = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
"""A server that is gone without a word is noticed after half a minute, whatever we wait for."""
_PERMANENT = range(500, 600)
_WIRE = policy.SMTP.clone(cte_type="7bit")  # not every server takes 8BITMIME, and long lines must be folded


class _Patient(smtplib.SMTP):
    """Gives a server more time for the answer to a whole mail, and knows whether it has one."""

    has_whole_mail = False

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        made: socket.socket = super()._get_socket(host, port, timeout)  # type: ignore[misc] # as above
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _ALIVE.items():
            if hasattr(socket, name):
                made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        return made

    def send(self, s: Any) -> None:
        ends = isinstance(s, bytes) and s.endswith(b"\r\n.\r\n")  # the content goes out in one piece
        self.has_whole_mail = self.has_whole_mail or ends
        super().send(s)
        if ends and self.sock is not None:
            self.sock.settimeout(ACCEPTANCE_SECONDS)

    def getreply(self) -> tuple[int, bytes]:
        try:
            return super().getreply()
        finally:
            if self.sock is not None:
                self.sock.settimeout(SECONDS)


class _PatientTls(_Patient, smtplib.SMTP_SSL):
    """The same over TLS from the first byte."""


class Smtp(Sender):
    """Delivers through one server, over a connection that is kept while there is work.

    Args:
        url: `smtp://[user:password@]host[:587]` or `smtps://…[:465]`. Over smtp the connection is encrypted by STARTTLS
            where the server offers it, and always before a password is shown.
        sender: the address that mails come from.
    """

    def __init__(self, url: str, sender: str, clock: Clock) -> None:
        parts = urlsplit(url)
        self._is_implicit = parts.scheme == "smtps"
        self._host = parts.hostname or "localhost"
        self._port = parts.port or (465 if self._is_implicit else 587)
        self._name, self._password = unquote(parts.username or ""), unquote(parts.password or "")
        self._sender = sender
        self._clock = clock
        self._connection: _Patient | None = None
        self._is_interrupted = False

    def send(self, message: Message) -> None:
        """Deliver one mail; raises DeliveryError, final where the server refuses it for good."""
        mail = self._mail(message)
        try:
            connection = self._connected()
            connection.has_whole_mail = False
            connection.send_message(mail)
        except smtplib.SMTPRecipientsRefused as problem:
            code, reason = next(iter(problem.recipients.values()))
            raise DeliveryError(_words(code, reason), is_final=code in _PERMANENT) from None
        except smtplib.SMTPAuthenticationError as problem:
            self.close()
            raise DeliveryError(f"the mail server refuses our name and password ({problem.smtp_code})") from None
        except smtplib.SMTPResponseException as problem:
            self.close()
            raise DeliveryError(
                _words(problem.smtp_code, problem.smtp_error), is_final=problem.smtp_code in _PERMANENT
            ) from None
        except smtplib.SMTPNotSupportedError:
            raise DeliveryError(
                "the mail server takes no addresses beyond ASCII (it does not offer SMTPUTF8, RFC 6531)", is_final=True
            ) from None
        except (smtplib.SMTPException, OSError) as problem:
            has_all = self._connection is not None and self._connection.has_whole_mail
            is_interrupted, self._is_interrupted = self._is_interrupted and not has_all, False
            self.close()
            raise DeliveryError(f"{type(problem).__name__}: {problem}", is_interrupted=is_interrupted) from None

    def interrupt(self) -> None:
        """Hang up, unless the server has the whole mail: it may deliver that, whether or not we hear its answer."""
        connection = self._connection
        sock = connection.sock if connection is not None and not connection.has_whole_mail else None
        if sock is None:
            return
        self._is_interrupted = True  # before the sending thread can notice
        with suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)  # SSLSocket's own would go on in the clear

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(smtplib.SMTPException, OSError):
                connection.quit()

    def _connected(self) -> _Patient:
        if self._connection is not None:
            return self._connection
        tls = ssl.create_default_context()
        if self._is_implicit:
            connection: _Patient = _PatientTls(self._host, self._port, timeout=SECONDS, context=tls)
        else:
            connection = _Patient(self._host, self._port, timeout=SECONDS)
            connection.ehlo()
            if connection.has_extn("starttls"):
                connection.starttls(context=tls)
            elif self._name:
                connection.close()
                raise DeliveryError("the mail server offers no STARTTLS, and a password is never sent in the clear")
        if self._name:
            connection.login(self._name, self._password)
        self._connection = connection
        return connection

    def _mail(self, message: Message) -> EmailMessage:
        payload = message.payload
        mail = EmailMessage(_WIRE)
        try:
            mail["Subject"] = str(payload["subject"])
            mail["From"] = _address(self._sender, str(payload.get("sender_name") or ""))
            mail["To"] = _address(str(payload["to"]))
            if payload.get("reply_to"):
                mail["Reply-To"] = _address(str(payload["reply_to"]))
        except (KeyError, ValueError, IndexError) as problem:
            raise DeliveryError(f"not a mail: {type(problem).__name__}", is_final=True) from None
        mail["Date"] = format_datetime(self._clock.now())
        domain = smtp_address(self._sender).rpartition("@")[2]
        mail["Message-ID"] = f"<{message.message_id}@{domain}>"  # the same at every attempt
        mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no machine answers
        mail["X-Auto-Response-Suppress"] = "All"  # what Exchange understands of it
        _fill(mail, payload)
        return mail


def _address(text: str, name: str = "") -> Address:
    """Return an address for a header. One beyond ASCII is not parsed, for the library would refuse it; it was checked."""
    local, _, domain = smtp_address(text).rpartition("@")
    if local.isascii():
        return Address(name, addr_spec=f"{local}@{domain}")
    return Address(name, username=local, domain=domain)


def _fill(mail: EmailMessage, payload: dict[str, Any]) -> None:
    mail.set_content(str(payload.get("text") or ""))
    if payload.get("html"):
        mail.add_alternative(str(payload["html"]), subtype="html")
    if payload.get("language"):
        mail["Content-Language"] = str(payload["language"])


def _words(code: int, reason: bytes | str) -> str:
    text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    return f"{code} {' '.join(text.split())}"
