"""Reads theme files for the hub: the used ones from memory."""

from __future__ import annotations

from base64 import b64decode
from typing import Final

from app.contract.images import image_pages
from app.contract.page_models import NoParameters
from app.contract.tenants.errors import UnknownThemeFile
from app.hub.client.known_names import KnownNames
from app.kit.caching.lru_cache import ByteCache, CachedFile
from app.kit.operations.client import Client

MAX_CACHED_BYTES: Final = 16 * 1024 * 1024
"""Of the theme files that a process keeps in memory."""


class ThemeFileCache:
    """The theme files of all tenants. Thread-safe."""

    def __init__(self, known: KnownNames) -> None:
        self._files = ByteCache(MAX_CACHED_BYTES)
        self._known = known

    def find(self, tenant: str, digest: str, client: Client) -> CachedFile | None:
        """Return a file; None if the tenant has none with this digest. `client` calls for a visit at the tenant's host."""
        if (cached := self._files.get((tenant, digest))) is not None:
            return cached
        file = self._known.find(
            "theme files",
            tenant,
            digest,
            lambda: _read(digest, client),
            lambda: client(image_pages.list_theme_files, NoParameters()).digests,
        )
        if file is not None:
            self._files.put((tenant, digest), file)
        return file


def _read(digest: str, client: Client) -> CachedFile | None:
    try:
        found = client(image_pages.read_theme_file, image_pages.ThemeFileDigest(digest=digest))
    except UnknownThemeFile:
        return None
    return CachedFile(found.media_type, b64decode(found.content))
