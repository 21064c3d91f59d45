"""Style sheets and scripts: joined, minified, named by a digest of their content, compressed once.

A page costs at most three requests: the document, one style sheet, one script. The content of a name never changes, so
browsers cache it without limit.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import rcssmin
import rjsmin
from flask import Flask, Response

from app.hub.web.visit import current_visit
from app.kit.caching.lru_cache import LruCache
from app.kit.web.assets import Asset

_SHARED: Final = ("frame", "forms", "actions", "parts")
SHEETS: Final = {
    "split": ("tokens", "base", "split", "drawings", *_SHARED),
    "console": ("tokens", "base", *_SHARED, "console", "account"),
    "workbench": ("tokens", "base", *_SHARED, "console"),
}
"""Source files of each layout's style sheet, in cascade order."""
MAX_CACHED: Final = 256
"""Maximum number of cached joined files. Pages use a few dozen, but a request may name scripts in any order."""
_NAME: Final = re.compile(r"(?P<parts>[a-z][a-z-]*(?:\.[a-z][a-z-]*)*)\.[0-9a-f]{12}\.(?P<kind>css|js)")


class Assets:
    """The static files of one folder.

    Args:
        folder: parent of `css/` and `js/`.
        is_fresh: read the source files for every page (development).
    """

    def __init__(self, folder: Path, *, is_fresh: bool = False) -> None:
        self._folder = folder
        self._is_fresh = is_fresh
        self._cache: LruCache[tuple[str, ...], Asset] = LruCache(MAX_CACHED)

    def style(self, layout: str, scheme: str = "auto") -> Asset:
        """Return the style sheet of a layout: a key of `SHEETS`. A scheme other than `auto` has the rules of one mode."""
        return self._joined("css", (layout,), SHEETS[layout], scheme)

    def rules(self, names: tuple[str, ...], scheme: str = "auto") -> str:
        """Return style sheets that are sent within a document: the rules that few pages need."""
        return self._joined("css", names, names, scheme).content.decode() if names else ""

    def script(self, names: tuple[str, ...]) -> Asset:
        """Return the scripts of a page in one file."""
        return self._joined("js", names, names)

    def _joined(self, kind: str, parts: tuple[str, ...], names: tuple[str, ...], scheme: str = "auto") -> Asset:
        key = (kind, scheme, *names)
        cached = None if self._is_fresh else self._cache.get(key)
        if cached is None:
            sources = [(self._folder / kind / f"{name}.{kind}").read_text("utf-8") for name in names]
            minify = rcssmin.cssmin if kind == "css" else rjsmin.jsmin
            joined = "\n".join(minify(source) for source in sources)
            if scheme != "auto":
                parts, joined = (*parts, scheme), in_scheme(joined, scheme)
            cached = Asset(".".join(parts), kind, joined.encode())
            self._cache.put(key, cached)
        return cached

    def named(self, name: str) -> tuple[Asset, bool] | None:
        """Return the file with a name, and whether the name has the digest of the current content. A page rendered by the previous
        release requests an old name: it gets the current file instead of a 404.
        """
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        parts = tuple(match["parts"].split("."))
        if match["kind"] == "css":
            layout, scheme = parts[0], parts[1] if parts[1:] in (("light",), ("dark",)) else "auto"
            asset = self.style(layout if layout in SHEETS else "console", scheme)
        elif all((self._folder / "js" / f"{part}.js").is_file() for part in parts) and len(set(parts)) == len(parts):
            asset = self.script(parts)
        else:
            return None
        return asset, asset.name == name


def in_scheme(css: str, scheme: str) -> str:
    """Return a minified style sheet of ours for pages that are light, or dark, on every device: conditions on the mode are decided."""
    for mode in ("light", "dark"):
        css = css.replace(f"(prefers-color-scheme:{mode})", "(min-width:0)" if mode == scheme else "(max-width:0)")
    return css.replace("color-scheme:light dark", f"color-scheme:{scheme}")


def install(app: Flask, assets: Assets) -> None:
    """Serve the files under `/static/`."""
    app.extensions["gatehouse.assets"] = assets

    @app.get("/static/<name>")
    def static_file(name: str) -> Response:
        found = assets.named(name)
        if found is None:
            return Response(status=404)
        asset, is_current = found
        return asset_response(asset, is_current=is_current)


def asset_response(asset: Asset, *, is_current: bool) -> Response:
    """Return a file; browsers keep it without limit if its name has the digest of the present content."""
    is_gzip = "gzip" in current_visit().headers.get("Accept-Encoding", "")
    response = Response(asset.compressed if is_gzip else asset.content, content_type=asset.media_type)
    if is_gzip:
        response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    # A page with a theme's scripts has an origin of its own (decision 0421), and so has none of our files otherwise.
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if is_current else "no-store"
    return response
