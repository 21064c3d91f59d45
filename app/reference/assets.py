"""The files that pages of the reference load, named by a digest of their content, so that browsers cache them without limit."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import quote

import rcssmin
import rjsmin

from app.contract.tenants.branding import DEFAULT_LOGO_PATH
from app.kit.design.palette import palette
from app.kit.package_files import STATIC
from app.kit.web.assets import Asset

_FOLDER: Final = Path(__file__).parent / "browser"
RENDERER: Final = STATIC / "vendor" / "openapi-explorer" / "openapi-explorer.min.js"
_OF_EVERY_PAGE: Final = ("search.js", "copy.js", "menu.js", "moved.js")
_COLOUR: Final = "#3b49d9"


def assets() -> dict[str, Asset]:
    """Return the files by name.

    The renderer is absent from a checkout that `make setup` hasn't filled; the pages then do without it.
    """
    files = {
        "reference.css": Asset("reference", "css", _style().encode()),
        "explorer.css": Asset("explorer", "css", rcssmin.cssmin(_text("explorer.css")).encode()),
        "operation.js": Asset("operation", "js", rjsmin.jsmin(_text("operation.js")).encode()),
        "page.js": Asset("page", "js", rjsmin.jsmin("\n".join(map(_text, _OF_EVERY_PAGE))).encode()),
    }
    if RENDERER.is_file():
        files["renderer.js"] = Asset("openapi-explorer", "js", RENDERER.read_bytes())
    return files


def favicon() -> str:
    """Return the address of the mark, which contains it."""
    tile, gate = (palette(_COLOUR)[name][0] for name in ("--brand", "--on-brand"))
    drawn = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 28 28">'
        f'<rect width="28" height="28" rx="8" fill="{tile}"/><path fill="{gate}" d="{DEFAULT_LOGO_PATH}"/></svg>'
    )
    return "data:image/svg+xml," + quote(drawn, safe="='/:")


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _style() -> str:
    """Return the style sheet of the pages: the product's tokens in its own colour, and the rules of the reference."""
    shades = palette(_COLOUR)
    light, dark = ("".join(f"{name}:{pair[mode].short};" for name, pair in shades.items()) for mode in (0, 1))
    computed = f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
    tokens = (STATIC / "css" / "tokens.css").read_text(encoding="utf-8")
    return str(rcssmin.cssmin("\n".join((computed, tokens, _text("reference.css")))))
