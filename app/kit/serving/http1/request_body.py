"""The bodies of requests: where each ends (RFC 9112 sections 6 and 7), and how much of them one process holds."""

import io
import re
import threading
from typing import Any, Final

from werkzeug.exceptions import RequestEntityTooLarge

from app.kit.serving.http1.error_responses import malformed

FRAMING_BYTES: Final = 128 * 1024
FRAMING_FACTOR: Final = 8
"""Chunk sizes, chunk extensions and trailer may take this many bytes beside a body, and this many for each of its bytes (a body in
chunks of one byte has five beside each)."""
LINE_BYTES: Final = 4096
"""The longest line beside the content of a chunked body."""
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?")
_FIELD: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*")
_UNFINISHED: Final = re.compile(rb"[^\x00-\x08\x0a-\x1f\x7f]*\r?")


class BodyBudget:
    """Counts the bytes of request bodies that one process holds."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._used_bytes = 0
        self._lock = threading.Lock()

    def add(self, size_bytes: int) -> bool:
        """Add bytes; return False if the budget is exceeded."""
        with self._lock:
            self._used_bytes += size_bytes
            return self._used_bytes <= self._most_bytes

    def release(self, size_bytes: int) -> None:
        """Subtract bytes that were added."""
        with self._lock:
            self._used_bytes -= size_bytes


class UnreadBody(io.RawIOBase):
    """A body over the limit: reading it raises 413, so that the application refuses it in its own format."""

    def readable(self) -> bool:
        return True

    def readinto(self, _buffer: Any) -> int:
        raise RequestEntityTooLarge

    def read(self, _size: int = -1) -> bytes:
        raise RequestEntityTooLarge


class FixedBody:
    """A body of a stated length."""

    def __init__(self, length: int) -> None:
        self.length = length
        self._left = length

    @property
    def is_complete(self) -> bool:
        """Whether all of it has arrived."""
        return self._left == 0

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Return the content in `data`, and the bytes after the body."""
        content = data[: self._left]
        self._left -= len(content)
        return content, data[len(content) :]


class ChunkedBody:
    """A body in chunks. Chunk extensions and trailer fields are dropped. Raises ServerRefusal for a malformed chunk."""

    length = 0

    def __init__(self) -> None:
        self.is_complete = False
        self._unread = b""
        self._left = 0
        """Bytes of the current chunk that have not arrived."""
        self._is_after_content = self._is_in_trailer = False
        self._content_bytes = self._framing_bytes = 0

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Return the content in `data`, and the bytes after the body."""
        if self._unread:
            data = self._unread + data
        blocks, at = [], 0
        while not self.is_complete:
            if self._left:
                block = data[at : at + self._left]
                if not block:
                    break
                blocks.append(block)
                at += len(block)
                self._left -= len(block)
                continue
            end = data.find(b"\r\n", at)
            if end < 0:
                break
            self._take_line(data[at:end])
            self._framing_bytes += end + 2 - at
            at = end + 2
        content, rest = b"".join(blocks), data[at:]
        self._content_bytes += len(content)
        self._unread = b"" if self.is_complete else rest
        self._check_framing()
        return content, rest if self.is_complete else b""

    def _take_line(self, line: bytes) -> None:
        """Consume a line between contents: the end of a chunk, the size of the next one, or a trailer field."""
        if self._is_after_content:
            if line:
                raise malformed()
            self._is_after_content = False
        elif not self._is_in_trailer:
            size = _SIZE.fullmatch(line)
            if size is None:
                raise malformed()
            self._left = int(size[1], 16)
            self._is_after_content, self._is_in_trailer = self._left > 0, self._left == 0
        elif not line:
            self.is_complete = True
        elif not _FIELD.fullmatch(line):
            raise malformed()

    def _check_framing(self) -> None:
        unfinished = self._unread
        most_bytes = FRAMING_BYTES + FRAMING_FACTOR * self._content_bytes
        if len(unfinished) > LINE_BYTES or self._framing_bytes + len(unfinished) > most_bytes:
            raise malformed()
        if unfinished and (not _UNFINISHED.fullmatch(unfinished) or (self._is_after_content and unfinished != b"\r")):
            raise malformed()
