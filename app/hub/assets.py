"""Style and scripts as the browser gets them: joined, minified, named by their content, compressed once.

A page costs three requests at most: itself, one style sheet, one script file. A name never changes its content, so
browsers keep it for ever.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import rcssmin
import rjsmin
from flask import Flask, Response, request

SHEETS: Final = ("tokens", "base", "layout", "parts")
"""The style sheet's parts, in the order in which they override one another."""
_NAME: Final = re.compile(r"(?P<parts>[a-z][a-z-]*(?:\.[a-z][a-z-]*)*)\.[0-9a-f]{12}\.(?P<kind>css|js)")


@dataclass(frozen=True)
class Asset:
    """One static file."""

    parts: tuple[str, ...]
    kind: str
    content: bytes

    @cached_property
    def name(self) -> str:
        """Its file name, which bears its content's digest."""
        return f"{'.'.join(self.parts)}.{hashlib.sha256(self.content).hexdigest()[:12]}.{self.kind}"

    @cached_property
    def compressed(self) -> bytes:
        return gzip.compress(self.content, 9, mtime=0)

    @property
    def media_type(self) -> str:
        return {"css": "text/css", "js": "text/javascript"}[self.kind] + "; charset=utf-8"


class Assets:
    """The static files of one folder.

    Args:
        folder: where `css/` and `js/` lie.
        is_fresh: read the files anew for every page, for those who are just writing them.
    """

    def __init__(self, folder: Path, *, is_fresh: bool = False) -> None:
        self._folder = folder
        self._is_fresh = is_fresh
        self._known: dict[tuple[str, ...], Asset] = {}

    def style(self) -> Asset:
        """The one style sheet."""
        return self._joined("css", ("hub",), SHEETS)

    def script(self, names: tuple[str, ...]) -> Asset:
        """The scripts of a page in one file."""
        return self._joined("js", names, names)

    def _joined(self, kind: str, called: tuple[str, ...], names: tuple[str, ...]) -> Asset:
        key = (kind, *names)
        if self._is_fresh or key not in self._known:
            sources = [(self._folder / kind / f"{name}.{kind}").read_text("utf-8") for name in names]
            shrink = rcssmin.cssmin if kind == "css" else rjsmin.jsmin
            self._known[key] = Asset(called, kind, "\n".join(shrink(source) for source in sources).encode())
        return self._known[key]

    def named(self, name: str) -> tuple[Asset, bool] | None:
        """Return the file of a name, and whether the name bears its present content.

        A page drawn by the release before asks for the name of then: it gets the style of now rather than none.
        """
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        parts = tuple(match["parts"].split("."))
        if match["kind"] == "css":
            asset = self.style()
        elif all((self._folder / "js" / f"{part}.js").is_file() for part in parts) and len(set(parts)) == len(parts):
            asset = self.script(parts)
        else:
            return None
        return asset, asset.name == name


def install(app: Flask, assets: Assets) -> None:
    """Serve the files at `/static/`."""

    @app.get("/static/<name>")
    def static_file(name: str) -> Response:
        found = assets.named(name)
        if found is None:
            return Response(status=404)
        asset, is_current = found
        packed = "gzip" in request.headers.get("Accept-Encoding", "")
        response = Response(asset.compressed if packed else asset.content, content_type=asset.media_type)
        if packed:
            response.headers["Content-Encoding"] = "gzip"
        response.headers["Vary"] = "Accept-Encoding"
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if is_current else "no-store"
        return response
