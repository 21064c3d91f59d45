"""Texts that differ only in a few short values: written and compressed once, then filled in."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

_GZIP_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
"""RFC 1952 section 2.3: deflate, no name, no time, unknown system."""
_LEVEL: Final = 6
"""Level 9 is slower and makes a page of 5 kB no smaller."""


@dataclass(frozen=True, slots=True)
class _Hole:
    name: str
    size_bytes: int
    block_head: bytes
    """Head of the stored block with its value (RFC 1951 section 3.2.4)."""


@dataclass(frozen=True, slots=True)
class Shell:
    """A text with holes.

    The compressed form consists of deflate blocks that end at whole bytes. Each hole is a block of its own that is stored
    as it is, so secrets in holes are never compressed beside text that an attacker chose (BREACH).
    """

    _texts: Sequence[bytes]
    """What stands before, between and after the holes."""
    _blocks: Sequence[bytes]
    """The same, compressed."""
    _holes: Sequence[_Hole]

    @classmethod
    def of(cls, text: str, values: Mapping[str, str]) -> Self:
        """Return the shell of a text, with a hole named after each of these ASCII values wherever it occurs."""
        names = {value: name for name, value in values.items()}
        text = text.replace("\0", "\ufffd")  # as browsers read it
        parts = re.split("({})".format("|".join(map(re.escape, names))), text) if names else [text]
        texts = [part.encode("utf-8", "replace") for part in parts[::2]]
        holes = [_hole(names[value], len(value)) for value in parts[1::2]]
        return cls(texts, _blocks(texts, holes), holes)

    def fits(self, values: Mapping[str, str]) -> bool:
        """Return whether the values have the lengths of the holes, and are plain ASCII."""
        return all(len(values[hole.name]) == hole.size_bytes and values[hole.name].isascii() for hole in self._holes)

    def filled(self, values: Mapping[str, str]) -> bytes:
        """Return the text with these values, which must fit."""
        parts = [self._texts[0]]
        for hole, text in zip(self._holes, self._texts[1:], strict=True):
            parts += (values[hole.name].encode(), text)
        return b"".join(parts)

    def compressed(self, values: Mapping[str, str]) -> bytes:
        """Return the same text as a gzip file."""
        plain = self.filled(values)
        parts = [_GZIP_HEAD, self._blocks[0]]
        for hole, block in zip(self._holes, self._blocks[1:], strict=True):
            parts += (hole.block_head, values[hole.name].encode(), block)
        parts.append(struct.pack("<II", zlib.crc32(plain), len(plain)))
        return b"".join(parts)


def _hole(name: str, size_bytes: int) -> _Hole:
    return _Hole(name, size_bytes, struct.pack("<BHH", 0, size_bytes, size_bytes ^ 0xFFFF))


def _blocks(texts: Sequence[bytes], holes: Sequence[_Hole]) -> list[bytes]:
    """Compress each text. Texts refer back to earlier ones over the holes, whose sizes are fixed, but never into them."""
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    blocks = []
    for text, hole in zip(texts, holes, strict=False):
        blocks.append(compressor.compress(text) + compressor.flush(zlib.Z_SYNC_FLUSH))
        compressor.compress(bytes(hole.size_bytes))  # NUL, which no text holds, keeps the hole's place
        compressor.flush(zlib.Z_SYNC_FLUSH)
    blocks.append(compressor.compress(texts[-1]) + compressor.flush(zlib.Z_FINISH))
    return blocks
