"""Files of a tenant's theme on the tenant's own host: those of the theme, and those that the operator puts into a folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, abort, jsonify
from werkzeug.utils import send_file

from app.hub.rendering.assets import asset_response
from app.hub.tenants.branding import css_asset
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit.design import theme_file_names
from app.kit.design.theme_file_names import MEDIA_TYPES

views = Blueprint("theme_files", __name__)

_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\.(?P<kind>[a-z0-9]+)")
_STYLE: Final = re.compile(r"theme\.[0-9a-f]{12}\.css")
_DAY: Final = 86_400
_PICTURE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
"""An SVG may style itself, and runs nothing, even where it is opened by its address."""


@views.get("/idx/manifest")
def manifest() -> Response:
    """The tenant's name, color and files, for programs that show its look."""
    brand = current_visit().tenant.brand
    assets = [
        {"Name": path.name, "Path": f"/theme/{path.name}", "Type": MEDIA_TYPES[path.suffix[1:]]} for path in _files()
    ]
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
        mimetype=MEDIA_TYPES[path.suffix[1:]],
        conditional=True,
        max_age=_DAY,
        response_class=Response,
    )
    return _for_other_origins(response)


@views.get("/theme/<any(img,fonts):folder>/<name>")
def own_file(folder: str, name: str) -> Response:
    """A file of a theme by an address that has its digest; 404 for every other. Only the first request of a process makes a call."""
    digest = theme_file_names.digest_at(f"/theme/{folder}/{name}")
    file = services().theme_files.find(current_visit().tenant.name, digest, api()) if digest else None
    if file is None or file.media_type != MEDIA_TYPES[theme_file_names.kind_of(name)]:
        abort(404)
    response = Response(file.content, content_type=file.media_type)
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return _for_other_origins(response)


def _for_other_origins(response: Response) -> Response:
    """Let emails in a browser show the logo, and pages with an origin of their own (decision 0421) load all; fonts need CORS for that."""
    response.headers["Content-Security-Policy"] = _PICTURE_POLICY
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    if (response.mimetype or "").startswith("font/"):
        response.headers["Access-Control-Allow-Origin"] = "*"
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
    if not folder or not tenant or parsed is None or parsed["kind"] not in MEDIA_TYPES:
        return None
    root = (Path(folder) / tenant).resolve()
    path = (root / name).resolve()
    return path if path.is_relative_to(root) and path.is_file() else None
