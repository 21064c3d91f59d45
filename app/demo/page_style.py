"""Styles the demo's own pages with the hosted pages' style sheet and a few rules, and adds security headers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from flask import Flask, Response
from jinja2 import ChoiceLoader, FileSystemLoader

from app.contract.tenants.branding import DEFAULT_LOGO_PATH, Brand
from app.hub.rendering.assets import Assets
from app.hub.tenants import branding
from app.kit.design.palette import palette, scene
from app.kit.package_files import STATIC, TEMPLATES

FOLDER: Final = str(Path(__file__).parent)
_COLOUR: Final = "#3b49d9"
PICTURES_OF_MAILS: Final = "img-src http: https: data:"
"""As in a mail program: the tenant's logo, at its own host or another one."""
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; frame-src 'self'; "
    "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def install(app: Flask, brands: Mapping[str, Brand] | None = None, themes: Mapping[str, Brand] | None = None) -> None:
    """Add /demo.css, /copy.js, the mark, and the headers of every response.

    Args:
        app: the application of the demo's pages.
        brands: whose scenes the page shows, by tenant.
        themes: the themes whose backgrounds it shows, by key.
    """
    cards = (*map(_of_card, (brands or {}).items()), *map(_of_look, (themes or {}).items()))
    content = "".join((_own_colours(), _hosted_style(), _own_style(), *cards))
    app.jinja_loader = ChoiceLoader([FileSystemLoader(Path(FOLDER) / "templates"), FileSystemLoader(TEMPLATES)])
    app.jinja_env.globals["gate"] = DEFAULT_LOGO_PATH
    app.jinja_env.globals["icon"] = branding.PageBranding("Gatehouse", colour=_COLOUR).icon

    @app.get("/demo.css")
    def stylesheet() -> Response:
        return Response(content, mimetype="text/css")

    @app.get("/copy.js")
    def script() -> Response:
        return Response(Assets(STATIC).script(("copy",)).content, mimetype="text/javascript")

    app.after_request(_protect)


def _own_colours() -> str:
    return branding.PageBranding("Gatehouse", colour=_COLOUR).tokens


def _hosted_style() -> str:
    return Assets(STATIC).style("console").content.decode() + (STATIC / "css" / "drawings.css").read_text(
        encoding="utf-8"
    )


def _own_style() -> str:
    return (Path(FOLDER) / "templates" / "demo.css").read_text(encoding="utf-8")


def _of_card(tenant: tuple[str, Brand]) -> str:
    """Return the colours and the scene of a tenant as the tokens of its card."""
    name, brand = tenant
    shades = {token: (light.short, dark.short) for token, (light, dark) in palette(brand.color).items()}
    shades |= scene(brand.color, is_daylight=brand.scene == "daylight")
    light, dark = ("".join(f"{token}:{pair[mode]};" for token, pair in shades.items()) for mode in (0, 1))
    return f".demo--{name}{{{light}}}@media(prefers-color-scheme:dark){{.demo--{name}{{{dark}}}}}"


def _of_look(theme: tuple[str, Brand]) -> str:
    """Return the background of a theme's card, light and dark."""
    key, brand = theme
    grounds = (brand.background or "#fff", brand.background_dark or "#101114")
    shown = {"light": grounds[:1] * 2, "dark": grounds[1:] * 2}.get(brand.color_scheme, grounds)
    light, dark = (f".look--{key}{{--ground:{ground}}}" for ground in shown)
    return f"{light}@media(prefers-color-scheme:dark){{{dark}}}"


def _protect(response: Response) -> Response:
    response.headers.setdefault("Content-Security-Policy", _POLICY)
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
