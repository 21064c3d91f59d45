"""Endpoints that browsers and crawlers request by convention: robots.txt and the favicon."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, Response

from app.hub.web.visit import current_visit

views = Blueprint("crawlers", __name__)

_ROBOTS: Final = "User-agent: *\nAllow: /\n"
"""Allows all, so that crawlers read `X-Robots-Tag: none` on each page: a page that is disallowed here can still be listed."""
_CACHE: Final = "public, max-age=86400"


@views.get("/robots.txt")
def robots() -> Response:
    """Rules for crawlers (RFC 9309)."""
    return Response(_ROBOTS, content_type="text/plain; charset=utf-8", headers={"Cache-Control": _CACHE})


@views.get("/favicon.ico")
def favicon() -> Response:
    """Serve the tenant's icon or redirect to its own address, for responses that are not pages; pages embed the icon as a data: URL."""
    brand = current_visit().tenant.brand
    if brand.icon_url and not brand.icon_url.startswith("data:"):
        return Response(status=302, headers={"Location": brand.icon_url, "Cache-Control": _CACHE})
    icon = brand.favicon
    return Response(icon, content_type="image/svg+xml", headers={"Cache-Control": _CACHE})
