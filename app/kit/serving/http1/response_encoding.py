"""Responses as bytes (RFC 9112)."""

import re
from collections.abc import Iterable
from email.utils import format_datetime
from functools import lru_cache
from http import HTTPStatus
from typing import Final

from app.kit.clock import SystemClock, monotonic

Fields = Iterable[tuple[str, str]]
BODILESS: Final = frozenset({204, 304})
"""Statuses whose responses have no body, and no length."""
LAST_CHUNK: Final = b"0\r\n\r\n"
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL: Final = bytes({*range(32), 127} - {*b"\t\r\n"})
_DATE_SECONDS: Final = 1.0
_FRAMING: Final = frozenset({"connection", "content-length", "transfer-encoding"})


@lru_cache(maxsize=1024)
def _field_name(name: str) -> str:
    if not _TOKEN.fullmatch(name):
        raise ValueError(f"not the name of a header field: {name!r}")
    return name.lower()


@lru_cache(maxsize=128)
def _status_line(status: int) -> str:
    phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else ""
    return f"HTTP/1.1 {status} {phrase}"


class _Date:
    """The current time as a header field, to the second."""

    def __init__(self) -> None:
        self._made: tuple[float, str] = (-_DATE_SECONDS, "")

    def __call__(self) -> str:
        made, now = self._made, monotonic()
        if now - made[0] >= _DATE_SECONDS:
            made = self._made = (now, f"date: {format_datetime(SystemClock().now(), usegmt=True)}")
        return made[1]


_date = _Date()


class Head:
    """Status line and header fields of a response. Raises ValueError for fields that the server must not send."""

    __slots__ = ("_lines", "ends_connection", "length", "status")

    def __init__(self, status: int, fields: Fields) -> None:
        self.status = status
        self.length: int | None = None
        """The stated length of the body."""
        self.ends_connection = False
        """Whether the fields say that the connection ends."""
        self._lines = [_status_line(status), _date()]
        for name, value in fields:
            lowered = _field_name(name)
            if lowered in _FRAMING:
                self._frame(lowered, value)
            else:
                self._lines.append(f"{lowered}: {value}")

    def encoded(self, *, closes: bool, length: int | None = None, is_chunked: bool = False) -> bytes:
        """Return it with the empty line at its end.

        Args:
            closes: whether the connection ends with this response.
            length: of the body, where one is to be stated.

        Raises:
            ValueError: a field would break out of its line, or be misread.
        """
        lines = self._lines
        if length is not None:
            lines.append(f"content-length: {length}")
        if is_chunked:
            lines.append("transfer-encoding: chunked")
        if closes:
            lines.append("connection: close")
        lines += ("", "")
        head = "\r\n".join(lines).encode("latin-1")
        breaks = len(lines) - 1
        if (
            head.count(b"\n") != breaks
            or head.count(b"\r") != breaks
            or len(head.translate(None, _CONTROL)) != len(head)
        ):
            raise ValueError("the value of a header field holds a control character")
        return head

    def _frame(self, name: str, value: str) -> None:
        """Take a field that says where the response ends: the server writes it."""
        if name == "connection":
            self.ends_connection = "close" in value.lower()
        elif name == "transfer-encoding":
            raise ValueError("an application states no transfer coding")
        elif self.length is not None:
            raise ValueError("two lengths")
        else:
            self.length = int(value)


def chunk(block: bytes) -> bytes:
    """Return a block of a body without a stated length."""
    return b"%x\r\n%s\r\n" % (len(block), block)
