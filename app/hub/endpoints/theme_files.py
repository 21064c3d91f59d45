"""Files of a tenant's theme on the tenant's own host: font, picture, icons. The operator puts them into a folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, abort, jsonify
from werkzeug.utils import send_file

from app.hub.rendering.assets import asset_response
from app.hub.tenants.branding import css_asset
from app.hub.web.services import services
from app.hub.web.visit import current_visit

views = Blueprint("theme_files", __name__)

_KINDS: Final = {
    "woff2": "font/woff2",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpg": "image/jpeg",
    "webp": "image/webp",
    "avif": "image/avif",
    "ico": "image/x-icon",
}
_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\.(?P<kind>[a-z0-9]+)")
_STYLE: Final = re.compile(r"theme\.[0-9a-f]{12}\.css")
_DAY: Final = 86_400
_PICTURE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
"""An SVG may style itself, and runs nothing, even where it is opened by its address."""


@views.get("/idx/manifest")
def manifest() -> Response:
    """The tenant's name, color and files, for programs that show its look."""
    brand = current_visit().tenant.brand
    assets = [{"Name": path.name, "Path": f"/theme/{path.name}", "Type": _KINDS[path.suffix[1:]]} for path in _files()]
    response = jsonify({"Name": brand.name, "Color": brand.colour, "Assets": assets})
    response.headers["Cache-Control"] = "public, max-age=300"
    return response


@views.get("/theme/<name>")
@views.get("/idx/asset/<name>")
def theme_file(name: str) -> Response:
    """A file of the tenant's folder, cached for a day, or its style sheet; 404 for every other."""
    if _STYLE.fullmatch(name):
        return _style_sheet(name)
    path = _path(name)
    if path is None:
        abort(404)
    response: Response = send_file(  # type: ignore[assignment]  # of `response_class`
        path,
        current_visit().environ,
        mimetype=_KINDS[path.suffix[1:]],
        conditional=True,
        max_age=_DAY,
        response_class=Response,
    )
    response.headers["Content-Security-Policy"] = _PICTURE_POLICY
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"  # emails in a browser show the logo, too
    return response


def _style_sheet(name: str) -> Response:
    """The theme's style sheet. A page of the version before names it by another digest: it gets the present one, uncached."""
    tenant = current_visit().tenant
    css = (tenant.themes.style_sheet(name) if tenant.themes is not None else "") or tenant.brand.css
    if not css:
        abort(404)
    return asset_response(css_asset(css), is_current=name == css_asset(css).name)


def _files() -> list[Path]:
    """Return the files of the tenant's folder that it may show, by name."""
    folder, tenant = services().settings.theme_files, current_visit().tenant.name
    if not folder or not tenant or not (Path(folder) / tenant).is_dir():
        return []
    names = sorted(path.name for path in (Path(folder) / tenant).iterdir())
    return [path for name in names if (path := _path(name)) is not None]


def _path(name: str) -> Path | None:
    """Return the file's path; None if its name or kind is not allowed, or if a link leads out of the folder."""
    folder, tenant, parsed = services().settings.theme_files, current_visit().tenant.name, _NAME.fullmatch(name)
    if not folder or not tenant or parsed is None or parsed["kind"] not in _KINDS:
        return None
    root = (Path(folder) / tenant).resolve()
    path = (root / name).resolve()
    return path if path.is_relative_to(root) and path.is_file() else None
