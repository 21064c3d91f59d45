"""A static file named by a digest of its content, so that browsers cache it without limit."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Final

_TYPES: Final = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


@dataclass(frozen=True)
class Asset:
    """A style sheet (kind `css`) or a script (`js`)."""

    stem: str
    kind: str
    content: bytes

    @cached_property
    def name(self) -> str:
        """The file name, with the digest of the content."""
        return f"{self.stem}.{hashlib.sha256(self.content).hexdigest()[:12]}.{self.kind}"

    @cached_property
    def compressed(self) -> bytes:
        """The content, compressed with gzip."""
        return gzip.compress(self.content, 9, mtime=0)

    @property
    def media_type(self) -> str:
        return _TYPES[self.kind]
