"""Names in plain words what happened to an outside call: no answer, or one that cannot be used. The only place that does.

Texts of the HTTP client's exceptions may contain URLs, and so secrets: none is repeated.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pydantic_core import from_json

from app.contract.federation.connection_checks import CallFailure
from app.identity.platform.outbound.findings import error_name, kind_of_value, shown
from app.kit.outbound.host_resolver import AddressMissing, AddressRefused

if TYPE_CHECKING:
    from app.identity.platform.outbound.findings import FindingTexts

_F: Final = CallFailure
_MAX_LOCATION: Final = 120
_HTML: Final = (b"<!doctype html", b"<html", b"<head", b"<body", b"<!--")
_ENDED: Final = ("disconnected", "closed connection")
"""Words of the exceptions of a connection that ended, among those about answers that are no HTTP."""


@dataclass(frozen=True)
class UnusableAnswer:
    """What happened to a call. The texts have no secret and no query."""

    failure: CallFailure
    expected: str
    received: str

    @property
    def texts(self) -> FindingTexts:
        """The arguments of a refusal with this finding."""
        return {"cause": self.failure.value, "expected": self.expected, "received": self.received}


def host_of(url: str) -> str:
    """Return the host of a URL, and its port, if it names one."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2] or "the address"
    except ValueError:
        return "the address"


def of_address(refused: AddressRefused) -> UnusableAnswer:
    """Return what a refused address means."""
    if isinstance(refused, AddressMissing):
        return UnusableAnswer(_F.UNKNOWN_HOST, "a host name with an address", "the host name has no address")
    expected = "a public address, or one of the networks that this server may reach"
    return UnusableAnswer(_F.INWARD_ADDRESS, expected, "an address that is not public")


def of_exception(problem: Exception, *, seconds: float, connect_seconds: float) -> UnusableAnswer:
    """Return why no answer came, for an exception of the HTTP client.

    Args:
        seconds: how long the call could take, and `connect_seconds` each connection.
    """
    import httpx  # noqa: TID251 - its errors alone

    from app.identity.platform.outbound.deadlines import MAX_READ, EndlessAnswer  # noqa: PLC0415 - with the first call

    if any(isinstance(cause, EndlessAnswer) for cause in _causes(problem)):
        return too_long(MAX_READ)
    secured = next((cause for cause in _causes(problem) if isinstance(cause, ssl.SSLError)), None)
    if secured is not None:
        return _of_tls(secured)
    if isinstance(problem, httpx.ConnectTimeout):
        return _slow("a connection", connect_seconds, "no connection")
    if isinstance(problem, httpx.TimeoutException):
        return _slow("an answer", seconds, "no complete answer")
    if any(isinstance(cause, ConnectionRefusedError) for cause in _causes(problem)):
        return UnusableAnswer(_F.CONNECTION_REFUSED, "a connection", "the connection was refused")
    if isinstance(problem, httpx.ConnectError | httpx.ProxyError):
        return UnusableAnswer(_F.UNREACHABLE, "a connection", "no connection: the host can’t be reached")
    if isinstance(problem, httpx.RemoteProtocolError) and not any(word in str(problem) for word in _ENDED):
        return UnusableAnswer(_F.NOT_HTTP, "an HTTP answer", "an answer that isn’t HTTP")
    if isinstance(problem, httpx.NetworkError | httpx.RemoteProtocolError):
        return UnusableAnswer(
            _F.CLOSED, "a complete answer", "the connection was closed before the answer was complete"
        )
    return UnusableAnswer(_F.INVALID_ADDRESS, "a complete https address", "an address that can’t be called")


def _slow(expected: str, seconds: float, received: str) -> UnusableAnswer:
    limit = "within 1 second" if seconds == 1 else f"within {seconds:g} seconds"
    return UnusableAnswer(_F.SLOW, f"{expected} {limit}", f"{received} {limit}")


def _of_tls(problem: ssl.SSLError) -> UnusableAnswer:
    if isinstance(problem, ssl.SSLCertVerificationError):
        reason = shown(str(problem.verify_message or "")).rstrip(".")
        return UnusableAnswer(
            _F.CERTIFICATE,
            "a certificate of a trusted authority for this host name",
            f"a certificate that isn’t trusted: {reason}" if reason else "a certificate that isn’t trusted",
        )
    if isinstance(problem, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return UnusableAnswer(_F.CLOSED, "an encrypted connection", "the connection was closed before it was encrypted")
    return UnusableAnswer(_F.TLS, "an encrypted connection (TLS 1.2 or 1.3)", "no encrypted connection: TLS failed")


def _causes(problem: BaseException) -> Iterator[BaseException]:
    """Yield an exception and those that led to it."""
    cause: BaseException | None = problem
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def too_long(max_bytes: int) -> UnusableAnswer:
    """Return what an answer beyond a limit means."""
    kilobytes = f"{max_bytes / 1000:g} kB"
    return UnusableAnswer(_F.TOO_LONG, f"an answer of at most {kilobytes}", f"an answer of more than {kilobytes}")


def packed(encoding: str) -> UnusableAnswer:
    """Return what an answer with a Content-Encoding means."""
    return UnusableAnswer(
        _F.PACKED, "an answer that isn’t compressed", f"an answer compressed by {error_name(encoding)}"
    )


def busy() -> UnusableAnswer:
    """Return what it means that no call could be made."""
    return UnusableAnswer(_F.BUSY, "few calls of this host at a time", "no call: too many calls wait for it")


def of_status(status: int, location: str | None = None, *, expected: str = "the status 200") -> UnusableAnswer:
    """Return what a status means that is not the expected one."""
    if 300 <= status < 400:
        return UnusableAnswer(
            _F.REDIRECTED, f"{expected}, without a redirect", f"HTTP {status_in_words(status, location)}"
        )
    kinds = {404: _F.NOT_FOUND, 410: _F.NOT_FOUND, 429: _F.TOO_MANY}
    other = _F.SERVER_ERROR if status >= 500 else _F.REFUSED_STATUS
    return UnusableAnswer(kinds.get(status, other), expected, f"HTTP {status}")


def status_in_words(status: int, location: str | None = None) -> str:
    """Return a status, for a redirect with its address: without user, query and fragment, which may be secrets."""
    return f"{status}, a redirect to {_masked_address(location)}" if 300 <= status < 400 and location else str(status)


def _masked_address(location: str) -> str:
    try:
        parts = urlsplit(location)
        host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    except ValueError:
        return "an address that can’t be read"
    address = f"{parts.scheme}://{host}{parts.path}" if host else parts.path
    address = f"{address}?…" if parts.query else address
    return shown(address)[:_MAX_LOCATION] or "an empty address"


def of_content(content: bytes, expected: str) -> UnusableAnswer:
    """Return what a body means that is no JSON."""
    text = content.strip()
    if not text:
        return UnusableAnswer(_F.EMPTY, expected, "an empty answer")
    if text[:20].lower().startswith(_HTML):
        return UnusableAnswer(_F.HTML, expected, "an HTML page")
    return UnusableAnswer(_F.NOT_JSON, expected, f"{len(content)} bytes that aren’t JSON")


def of_value(value: Any, expected: str) -> UnusableAnswer:
    """Return what JSON of another type means."""
    return UnusableAnswer(
        _F.WRONG_TYPE, expected, f"JSON that is {kind_of_value(value) if value is not None else 'null'}"
    )


def json_of(content: bytes, expected: str, *, is_object: bool) -> tuple[Any, UnusableAnswer | None]:
    """Return the JSON of a body, which must be an object if `is_object`, or why it cannot be used."""
    try:
        value = from_json(content, allow_inf_nan=False)
    except ValueError:
        return None, of_content(content, expected)
    return value, of_value(value, expected) if is_object and not isinstance(value, dict) else None
