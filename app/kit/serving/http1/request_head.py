"""Parses the head of a request strictly (RFC 9112): ambiguous heads, which a proxy could read differently, are refused."""

import re
from collections.abc import Iterable
from http import HTTPMethod, HTTPStatus
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from app.kit.caching.bounded_cache import bounded_cache
from app.kit.serving.http1.error_responses import ServerRefusal, ServerRefusalReason, malformed
from app.kit.serving.http1.request_body import ChunkedBody, FixedBody
from app.kit.web.proxies import is_host

_METHODS: Final = {method.value.encode(): method.value for method in HTTPMethod if method is not HTTPMethod.CONNECT}
_VERSIONS: Final = {b"HTTP/1.0": "HTTP/1.0", b"HTTP/1.1": "HTTP/1.1"}
_ANY_VERSION: Final = re.compile(rb"HTTP/[0-9]\.[0-9]")
_TOKEN: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TARGET: Final = re.compile(rb"[!\"$-~]+")
"""Visible ASCII without `#`: a fragment never leaves its browser."""
_ABSOLUTE: Final = re.compile(rb"https?://([^/?]+)(.*)", re.IGNORECASE)
_CONTROL: Final = bytes({*range(32), 127} - {*b"\t\r\n"})
_CONTROL_CHARACTER: Final = re.compile("[\x00-\x1f\x7f]")
_LENGTH: Final = re.compile("[0-9]{1,18}")
_CHUNKED: Final = "chunked"
_OF_THE_CONNECTION: Final = ("HTTP_CONNECTION", "HTTP_UPGRADE", "HTTP_HTTP2_SETTINGS")
_TLS_HANDSHAKE: Final = b"\x16\x03"
"""The first bytes of a TLS connection (RFC 8446 section 5.1): a record of type handshake, of any version."""
_TLS_HINT: Final = "a TLS handshake came to a plain HTTP port"


def after_empty_lines(unread: bytes) -> bytes:
    """Return the bytes after the empty lines before a request (RFC 9112 section 2.2); an incomplete empty line stays."""
    rest = unread.lstrip(b"\r\n")
    blank = unread[: len(unread) - len(rest)]
    if not rest and blank.endswith(b"\r"):
        rest, blank = b"\r", blank[:-1]
    if blank != b"\r\n" * (len(blank) // 2):
        raise malformed()
    return rest


def check_beginning(unread: bytes, checked: int) -> int:
    """Refuse the beginning of a head that no rest can complete; return how many bytes are checked.

    Args:
        checked: how many the last call returned.
    """
    if unread.startswith(_TLS_HANDSHAKE):
        raise malformed(_TLS_HINT)
    line, is_ended, _ = unread.partition(b"\r\n")
    if is_ended:
        read_request_line(line)
    elif not unread[:1].isalpha():
        raise malformed()
    settled = len(unread) - unread.endswith(b"\r")
    _lines(unread[checked:settled])
    return settled


def lines_of(head: bytes) -> list[bytes]:
    """Return the lines of a head. Raises ServerRefusal for control characters, and for line breaks that are not CRLF."""
    if head.startswith(_TLS_HANDSHAKE):
        raise malformed(_TLS_HINT)
    return _lines(head)


def _lines(text: bytes) -> list[bytes]:
    lines = text.split(b"\r\n")
    breaks = len(lines) - 1
    if text.count(b"\n") != breaks or text.count(b"\r") != breaks or len(text.translate(None, _CONTROL)) != len(text):
        raise malformed()
    return lines


def read_request_line(line: bytes) -> tuple[str, bytes, str]:
    """Return method, target and protocol version."""
    parts = line.split(b" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or not _ANY_VERSION.fullmatch(parts[2]):
        raise malformed()
    version, method = _VERSIONS.get(parts[2]), _METHODS.get(parts[0])
    if version is None:
        raise ServerRefusal(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, ServerRefusalReason.UNSUPPORTED)
    if method is None:
        raise ServerRefusal(HTTPStatus.NOT_IMPLEMENTED, ServerRefusalReason.UNSUPPORTED)
    return method, parts[1], version


@bounded_cache(max_entries=1024, length=64)
def key_of(name: bytes) -> str | None:
    """Return the key of a header field, or None for a field that is dropped. Raises ServerRefusal for an invalid name.

    `X_Forwarded_For` and `X-Forwarded-For` would share one key, so a client could write past a proxy that sets the
    latter: names with underscores are dropped, as nginx does.
    """
    if not _TOKEN.fullmatch(name):
        raise malformed()
    if b"_" in name:
        return None
    key = name.decode("ascii").upper().replace("-", "_")
    return key if key in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{key}"


def add_fields(lines: Iterable[bytes], environ: dict[str, Any]) -> None:
    """Add header fields to the environment; the values of a repeated one become a list."""
    for line in lines:
        name, colon, raw = line.partition(b":")
        key = key_of(name)
        if not colon:
            raise malformed()
        if key is None:
            continue
        value = raw.strip(b" \t").decode("latin-1")
        if key in environ:
            value = environ[key] + ("; " if key == "HTTP_COOKIE" else ",") + value
        environ[key] = value


def keeps_alive(environ: dict[str, Any]) -> bool:
    """Return whether the client may send more requests, and remove the fields of the connection from the environment.

    An offered upgrade is ignored (RFC 9110 section 7.8): Java's client offers HTTP/2 with each request that is not over TLS.
    """
    connection = environ.get("HTTP_CONNECTION", "").lower()
    for key in _OF_THE_CONNECTION:
        environ.pop(key, None)
    options = {option.strip(" \t") for option in connection.split(",")}
    return environ["SERVER_PROTOCOL"] != "HTTP/1.0" and "close" not in options


def expects_continue(environ: dict[str, Any]) -> bool:
    """Return whether the client waits for `100 Continue`, which HTTP/1.0 does not know (RFC 9110 section 10.1.1)."""
    expectation = environ.get("HTTP_EXPECT")
    if expectation is None or environ["SERVER_PROTOCOL"] == "HTTP/1.0":
        return False
    if expectation.lower() != "100-continue":
        raise ServerRefusal(HTTPStatus.EXPECTATION_FAILED, ServerRefusalReason.UNSUPPORTED)
    return True


def body_of(environ: dict[str, Any]) -> FixedBody | ChunkedBody | None:
    """Return the reader of the body that the head announces; None if it announces none (RFC 9112 section 6)."""
    coding: str | None = environ.pop("HTTP_TRANSFER_ENCODING", None)
    length: str | None = environ.get("CONTENT_LENGTH")
    if coding is not None:
        if length is not None or environ["SERVER_PROTOCOL"] == "HTTP/1.0":
            raise malformed()
        if coding.lower() != _CHUNKED:
            raise _refusal_of_coding(coding.lower())
        return ChunkedBody()
    if length is None:
        return None
    if not _LENGTH.fullmatch(length):
        raise malformed()
    environ["CONTENT_LENGTH"] = str(int(length))
    return FixedBody(int(length))


def _refusal_of_coding(listed: str) -> ServerRefusal:
    """Return 501 for a coding beside `chunked`; 400 for a list that leaves the end of the body undefined."""
    *others, last = (coding.strip(" \t") for coding in listed.split(","))
    if last == _CHUNKED and _CHUNKED not in others and all(others):
        return ServerRefusal(HTTPStatus.NOT_IMPLEMENTED, ServerRefusalReason.UNSUPPORTED)
    return malformed()


def take_target(target: bytes, environ: dict[str, Any]) -> None:
    """Add path, query and host to the environment; the host of an absolute target counts (RFC 9112 section 3.2.2).

    Its scheme does not: whether the client uses TLS is known from the connection, or from a trusted proxy.
    """
    host = environ.get("HTTP_HOST")
    if (host is None and environ["SERVER_PROTOCOL"] != "HTTP/1.0") or (host is not None and not is_host(host)):
        raise ServerRefusal(HTTPStatus.BAD_REQUEST, ServerRefusalReason.HOST)
    if not _TARGET.fullmatch(target):
        raise malformed()
    if not target.startswith(b"/") and not (target == b"*" and environ["REQUEST_METHOD"] == "OPTIONS"):
        absolute = _ABSOLUTE.fullmatch(target)
        host = absolute[1].decode("ascii") if absolute else ""
        if absolute is None or not is_host(host):
            raise malformed()
        target = absolute[2] if absolute[2].startswith(b"/") else b"/" + absolute[2]
    if host is not None:
        environ["HTTP_HOST"] = host.lower()
    path, _, query = target.partition(b"?")
    environ["PATH_INFO"] = _decoded(path)
    environ["QUERY_STRING"] = query.decode("ascii")


def _decoded(path: bytes) -> str:
    decoded = (unquote_to_bytes(path) if b"%" in path else path).decode("latin-1")
    if b"\\" in path or _CONTROL_CHARACTER.search(decoded):
        raise malformed()
    return decoded
