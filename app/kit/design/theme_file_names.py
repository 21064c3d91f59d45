"""Names, bounds and addresses of a theme's static files.

A theme names a file by its path in the folder, such as `img/hills.jpg`. Browsers get it by an address with a digest of its
content, so that they keep it without limit and a changed file has a new address.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

MAX_FILES: Final = 100
"""Files of one theme."""
MAX_TOTAL_BYTES: Final = 4 * 1024 * 1024
"""Of all files of one theme together."""
MAX_FILE_BYTES: Final = 700 * 1024
"""Of one file: in base64 it fits the body of a request."""
FOLDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "img": ("svg", "png", "jpg", "webp", "avif", "ico"),
    "fonts": ("woff2",),
}
"""The endings of the files in each folder."""
MEDIA_TYPES: Final[Mapping[str, str]] = {
    "woff2": "font/woff2",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpg": "image/jpeg",
    "webp": "image/webp",
    "avif": "image/avif",
    "ico": "image/x-icon",
}
_STEM: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}"
NAME: Final = re.compile(rf"(?:img/{_STEM}\.(?:{'|'.join(FOLDERS['img'])})|fonts/{_STEM}\.woff2)")
DIGEST: Final = re.compile(r"[0-9a-f]{32}")
_ADDRESS: Final = re.compile(rf"/theme/((?:img|fonts)/{_STEM})\.({DIGEST.pattern})\.([a-z0-9]+)")
_ATTRIBUTE: Final = re.compile(r'(\s(?:src|srcset)=")([^"<>{}]*)(?=")')
EXPECTED_NAME: Final = (
    "img/NAME with the ending "
    + ", ".join(FOLDERS["img"])
    + ", or fonts/NAME.woff2; NAME has letters without accents, digits, - _ ."
)


def digest_of(content: bytes) -> str:
    """Return the digest of a file: the first half of its SHA-256, in hex."""
    return hashlib.sha256(content).hexdigest()[:32]


def kind_of(name: str) -> str:
    """Return the ending of a name."""
    return name.rpartition(".")[2]


def is_name(text: str) -> bool:
    """Return whether a text can name a file of a theme."""
    return NAME.fullmatch(text) is not None


def address(reference: str, files: Mapping[str, str]) -> str:
    """Return the address of a file by its name and digest; a reference that names none of `files` stays."""
    if reference not in files:
        return reference
    stem, _, kind = reference.rpartition(".")
    return f"/theme/{stem}.{files[reference]}.{kind}"


def addresses(files: Mapping[str, str]) -> dict[str, str]:
    """Return the address of each file by its name."""
    return {name: address(name, files) for name in files}


def digest_at(path: str) -> str:
    """Return the digest that the address of a file has; empty for another path."""
    match = _ADDRESS.fullmatch(path)
    return match[2] if match is not None and is_name(f"{match[1]}.{match[3]}") else ""


def in_template(source: str, files: Mapping[str, str]) -> str:
    """Return the source of a template with the addresses of its pictures in place of their names."""
    return _ATTRIBUTE.sub(lambda match: match[1] + address(match[2].strip(), files), source)


def references_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of each picture of the theme that a template shows."""
    for match in _ATTRIBUTE.finditer(source):
        if is_name(name := match[2].strip()):
            yield source.count("\n", 0, match.start(2)) + 1, name


def total_problem(sizes: Mapping[str, int]) -> str | None:
    """Return what is expected of a theme with files of these sizes in bytes, by name; None if it may have them."""
    if len(sizes) > MAX_FILES:
        return f"expected at most {MAX_FILES} files in a theme; found more"
    if (total := sum(sizes.values())) > MAX_TOTAL_BYTES:
        return (
            f"expected at most {MAX_TOTAL_BYTES // 1024**2} MB for all files of a theme; found {total / 1024**2:.1f} MB"
        )
    return None


def twins(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, other name) for names that differ in letter case alone, which some systems take for one file."""
    seen: dict[str, str] = {}
    for name in sorted(names):
        if (other := seen.setdefault(name.lower(), name)) != name:
            yield name, other
