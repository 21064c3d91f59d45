"""Precompressed texts with slots: a text that differs only in a few short values is compressed once."""

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
class _Slot:
    name: str
    size_bytes: int
    block_head: bytes
    """Head of the stored block with its value (RFC 1951 section 3.2.4)."""


@dataclass(frozen=True, slots=True)
class PrecompressedText:
    """A text with slots.

    The compressed form consists of deflate blocks that end at whole bytes. Each slot is a block of its own that is stored
    as it is, so secrets in slots are never compressed beside text that an attacker chose (BREACH).
    """

    _texts: Sequence[bytes]
    """The parts before, between and after the slots."""
    _blocks: Sequence[bytes]
    """The same, compressed."""
    _slots: Sequence[_Slot]

    @classmethod
    def of(cls, text: str, values: Mapping[str, str]) -> Self:
        """Return a text with a slot named after each of these ASCII values wherever it occurs."""
        names = {value: name for name, value in values.items()}
        text = text.replace("\0", "\ufffd")  # browsers replace NUL, too
        parts = re.split("({})".format("|".join(map(re.escape, names))), text) if names else [text]
        texts = [part.encode("utf-8", "replace") for part in parts[::2]]
        slots = [_slot(names[value], len(value)) for value in parts[1::2]]
        return cls(texts, _blocks(texts, slots), slots)

    def with_values(self, values: Mapping[str, str]) -> bytes:
        """Return the text with these values. Raises ValueError for a value that is not ASCII of its slot's size."""
        parts = [self._texts[0]]
        for slot, text in zip(self._slots, self._texts[1:], strict=True):
            value = values[slot.name].encode("ascii")
            if len(value) != slot.size_bytes:
                raise ValueError(f"{slot.name} has {len(value)} bytes in place of {slot.size_bytes}")
            parts += (value, text)
        return b"".join(parts)

    def compressed(self, values: Mapping[str, str]) -> bytes:
        """Return the same text as a gzip file."""
        plain = self.with_values(values)
        parts = [_GZIP_HEAD, self._blocks[0]]
        for slot, block in zip(self._slots, self._blocks[1:], strict=True):
            parts += (slot.block_head, values[slot.name].encode(), block)
        parts.append(struct.pack("<II", zlib.crc32(plain), len(plain)))
        return b"".join(parts)


def _slot(name: str, size_bytes: int) -> _Slot:
    return _Slot(name, size_bytes, struct.pack("<BHH", 0, size_bytes, size_bytes ^ 0xFFFF))


def _blocks(texts: Sequence[bytes], slots: Sequence[_Slot]) -> list[bytes]:
    """Compress each text. Texts refer back to earlier ones over the slots, whose sizes are fixed, but never into them."""
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    blocks = []
    for text, slot in zip(texts, slots, strict=False):
        blocks.append(compressor.compress(text) + compressor.flush(zlib.Z_SYNC_FLUSH))
        compressor.compress(bytes(slot.size_bytes))  # NUL, which no text holds, keeps the slot's place
        compressor.flush(zlib.Z_SYNC_FLUSH)
    blocks.append(compressor.compress(texts[-1]) + compressor.flush(zlib.Z_FINISH))
    return blocks
