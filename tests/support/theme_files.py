"""Static files of themes, as designers and attackers make them."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from app.identity.directory.tenants import theme_files
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.design.theme_file_names import digest_of
from tests.support.images import image_file

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 28 28">'
LOGO = f'{HEAD}<circle cx="14" cy="14" r="13" fill="#0a7d55"/></svg>'.encode()
HILLS = image_file(kind="JPEG")


def svg(inner: str) -> bytes:
    """Return a drawing with this inside."""
    return f"{HEAD}{inner}</svg>".encode()


def font(
    packed: bytes = b"\x8b\x00\x80glyphs\x03", *, after: bytes = b"", private: int = 0, unpacked: int = 100
) -> bytes:
    """Return a woff2 file with one table. Its letters are not those of a font, which browsers alone would notice."""
    directory = bytes([1, len(packed)])  # `head`
    length = 48 + len(directory) + len(packed)
    padding = b"\x00" * (-length % 4)
    whole = length + len(padding) + len(after)
    head = struct.pack(
        ">4sIIHHIIHHIIIII", b"wOF2", 0x00010000, whole, 1, 0, unpacked, len(packed), 1, 0, 0, 0, 0, private, private
    )
    return head + directory + packed + padding + after


FONT = font()


def write(folder: Path, files: dict[str, bytes]) -> None:
    """Write files into `static/` of a theme folder, by their names."""
    for name, content in files.items():
        (folder / "static" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "static" / name).write_bytes(content)


def store(services: IdentityServices, tenant_id: str, contents: Mapping[str, bytes], *, days_ago: int = 0) -> bool:
    """Store files of a tenant by their names. Return whether they had room."""
    with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
        at = services.clock.now() - timedelta(days=days_ago)
        return theme_files.store(work, contents.items(), at, is_sqlite=services.database.is_sqlite)


def address(name: str, content: bytes) -> str:
    """Return the address of a file on the tenant's host."""
    stem, _, kind = name.rpartition(".")
    return f"/theme/{stem}.{digest_of(content)}.{kind}"
