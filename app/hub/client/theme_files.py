"""Reads theme files for the hub: the used ones from memory, and few calls however many unknown ones browsers ask for."""

from __future__ import annotations

import threading
from base64 import b64decode
from dataclasses import dataclass
from typing import Final

from app.contract.images import image_pages
from app.contract.page_models import NoParameters
from app.contract.tenants.errors import UnknownThemeFile
from app.kit.caching.lru_cache import ByteCache, CachedFile, LruCache
from app.kit.clock import monotonic
from app.kit.operations.client import Client

MAX_CACHED_BYTES: Final = 16 * 1024 * 1024
"""Of the theme files that a process keeps in memory."""
WINDOW_SECONDS: Final = 10.0
MAX_MISSES: Final = 5
"""Unknown files of a tenant that the hub asks for in a window; after those it asks for the list of the known ones, once."""
_MAX_TENANTS: Final = 500
"""Tenants with misses in memory, each with up to 70 kB of digests."""


@dataclass(slots=True)
class _Misses:
    began_at: float
    count: int = 0
    known: str | None = None
    """The digests of the tenant's files, once the misses of this window are spent."""

    @property
    def is_over(self) -> bool:
        return monotonic() - self.began_at >= WINDOW_SECONDS

    def excludes(self, digest: str) -> bool:
        """Return whether it is known in this window that the tenant has no such file."""
        return self.known is not None and digest not in self.known and not self.is_over


class ThemeFileCache:
    """The theme files of all tenants. Thread-safe."""

    def __init__(self) -> None:
        self._files = ByteCache(MAX_CACHED_BYTES)
        self._misses: LruCache[str, _Misses] = LruCache(_MAX_TENANTS)
        self._lock = threading.Lock()

    def find(self, tenant: str, digest: str, client: Client) -> CachedFile | None:
        """Return a file; None if the tenant has none with this digest. `client` calls for a visit at the tenant's host.

        While a tenant's misses are spent, a file that was stored after the list was read appears when the window ends.
        """
        if (cached := self._files.get((tenant, digest))) is not None:
            return cached
        misses = self._misses.get(tenant)
        if misses is not None and misses.excludes(digest):
            return None
        try:
            found = client(image_pages.read_theme_file, image_pages.ThemeFileDigest(digest=digest))
        except UnknownThemeFile:
            self._note_miss(tenant, client)
            return None
        file = CachedFile(found.media_type, b64decode(found.content))
        self._files.put((tenant, digest), file)
        return file

    def _note_miss(self, tenant: str, client: Client) -> None:
        with self._lock:
            misses = self._misses.get(tenant)
            if misses is None or misses.is_over:
                misses = _Misses(monotonic())
                self._misses.put(tenant, misses)
            misses.count += 1
            is_spent = misses.count >= MAX_MISSES and misses.known is None
        if is_spent:
            misses.known = " ".join(client(image_pages.list_theme_files, NoParameters()).digests)
