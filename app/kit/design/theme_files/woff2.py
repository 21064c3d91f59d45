"""Checks that a file is a WOFF2 font and nothing besides (W3C WOFF 2.0 sections 4 and 5)."""

from __future__ import annotations

import struct
from typing import Final

_HEADER: Final = struct.Struct(">4sIIHHIIHHIIIII")
_FLAVORS: Final = frozenset({0x00010000, int.from_bytes(b"OTTO", "big"), int.from_bytes(b"true", "big")})
MAX_UNPACKED_BYTES: Final = 16 * 1024 * 1024
"""Of the font after decompression, as its header states it."""
_ARBITRARY_TAG: Final = 63
_TRANSFORMED: Final = frozenset({10, 11})
"""Indexes of the tables glyf and loca, which are transformed unless their version is 3; others are if it is not 0."""
_NEVER_TRANSFORMED: Final = 3


def problem(content: bytes) -> str | None:
    """Return what is expected of a font; None for one that is accepted. The glyphs are not decompressed."""
    if len(content) < _HEADER.size or content[:4] != b"wOF2":
        return "expected a woff2 font"
    (
        _,
        flavor,
        length,
        tables,
        reserved,
        unpacked,
        packed,
        _,
        _,
        meta_at,
        meta_length,
        _,
        private_at,
        private_length,
    ) = _HEADER.unpack_from(content)
    if flavor not in _FLAVORS or not tables or reserved or not packed or not unpacked:
        return "expected a woff2 font with one face"
    if unpacked > MAX_UNPACKED_BYTES:
        return f"expected a font of at most {MAX_UNPACKED_BYTES // 1024**2} MB after decompression"
    if private_at or private_length:
        return "expected a font without a private block"
    end = _directory_end(content, tables)
    if end is None:
        return "expected a complete woff2 font"
    end += packed
    if meta_length:
        end = _aligned(end) if meta_at == _aligned(end) else len(content) + 1
        end += meta_length
    is_complete = length == len(content) and end <= length <= _aligned(end)
    return None if is_complete and not any(content[end:]) else "expected a complete woff2 font with nothing after it"


def _aligned(at: int) -> int:
    return -(-at // 4) * 4


def _directory_end(content: bytes, tables: int) -> int | None:
    """Return where the directory of tables ends; None if it is malformed."""
    at: int | None = _HEADER.size
    for _ in range(tables):
        if at is None or at >= len(content):
            return None
        index, version = content[at] & 63, content[at] >> 6
        at += 5 if index == _ARBITRARY_TAG else 1
        at = _after_number(content, at)
        is_transformed = version != _NEVER_TRANSFORMED if index in _TRANSFORMED else version != 0
        if is_transformed and at is not None:
            at = _after_number(content, at)
    return at


def _after_number(content: bytes, at: int) -> int | None:
    """Return where a number of variable length (UIntBase128) ends."""
    for end in range(at, min(at + 5, len(content))):
        if not content[end] & 0x80:
            return end + 1
    return None
