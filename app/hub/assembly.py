"""Assembles the hub's Flask application: services, template environment, pages, endpoints and error pages."""

from __future__ import annotations

import importlib
import pkgutil
from functools import partial
from typing import Final

from flask import Blueprint, Response

from app.contract.organizations.setup_operations import ANSWER, PAGE
from app.contract.tenants.tenant_pages import THEME_EDITOR, THEME_PREVIEWS
from app.hub import oidc_client, pages
from app.hub.endpoints import (
    application_logos,
    check_session,
    crawlers,
    device_qr,
    federation,
    jwt_sign_on,
    legacy_urls,
    protocol,
    theme_files,
    uploaded_images,
    web_sso,
)
from app.hub.exception_pages import ERROR_PAGES
from app.hub.rendering import assets, environment
from app.hub.web.application import HubFlask
from app.hub.web.services import HubServices
from app.kit.package_files import STATIC


def make_app(shared: HubServices) -> HubFlask:
    """Return the Flask application."""
    development = shared.settings.development
    app = HubFlask(shared, ERROR_PAGES)
    app.config["WTF_I18N_ENABLED"] = False  # all texts are in the hub's own catalogues
    environment.install(app, development=development)
    assets.install(app, assets.Assets(STATIC, is_fresh=development))
    app.add_views(all_views(development=development))
    return app


def all_views(*, development: bool = False) -> list[Blueprint]:
    """Import every page; return the blueprints of pages and endpoints."""
    for module in pkgutil.walk_packages(pages.__path__, f"{pages.__name__}."):
        importlib.import_module(module.name)
    views = [
        pages.pages,
        crawlers.views,
        theme_files.views,
        _theme_previews(),
        _theme_editor(),
        _setup_guide(),
        application_logos.views,
        uploaded_images.views,
        protocol.views,
        check_session.views,
        device_qr.views,
        legacy_urls.views,
        oidc_client.views,
        federation.views,
        jwt_sign_on.views,
        web_sso.views,
    ]
    if development:
        from app.hub.gallery import gallery  # noqa: PLC0415

        views.append(gallery)
    return views


_PREVIEWS: Final = {
    "": "index",
    "/<page_name>/<sample>": "sample_of",
    "/<name>": "style_sheet",
    "/messages": "messages",
    "/messages/<kind>/<state>": "mail",
}
"""The views of `theme_preview.py` by their paths below an address."""


def _theme_previews() -> Blueprint:
    """Return the addresses of previews; the gallery behind them is imported with the first visit."""
    views = Blueprint("theme_preview", __name__, url_prefix=f"{THEME_PREVIEWS}/<token>")
    for path, name in _PREVIEWS.items():
        views.add_url_rule(path, name, partial(_preview, name))
    return views


def _preview(view: str, /, **parts: str) -> Response:
    from app.hub import theme_preview  # noqa: PLC0415 - few processes show one

    response: Response = getattr(theme_preview, view)(**parts)
    return response


def _theme_editor() -> Blueprint:
    """Return the address of the theme editor, which is imported with the first visit."""
    views = Blueprint("theme_editor", __name__)
    views.add_url_rule(THEME_EDITOR, "show", partial(_edit, "show"), methods=["GET"])
    views.add_url_rule(THEME_EDITOR, "submit", partial(_edit, "submit"), methods=["POST"])
    return views


def _edit(view: str, /) -> Response:
    from app.hub.theme_editor import page  # noqa: PLC0415 - few processes show it

    response: Response = getattr(page, view)()
    return response


_SETUP: Final = {
    "": "start",
    "/domain": "domain",
    "/provider": "provider",
    "/connection": "connection",
    "/test": "trial",
    "/activate": "activate",
    "/certificate": "renewal",
}
"""The modules of `setup_guide`, by the ends of their addresses."""


def _setup_guide() -> Blueprint:
    """Return the addresses of the set-up guide, whose pages are imported with the first visit."""
    views = Blueprint("setup_guide", __name__)
    for path, module in _SETUP.items():
        for view, method in (("show", "GET"), ("submit", "POST")):
            views.add_url_rule(f"{PAGE}{path}", f"{module}_{view}", partial(_guide, module, view), methods=[method])
    views.add_url_rule(ANSWER, "finish", partial(_guide, "trial", "finish"), methods=["GET"])
    return views


def _guide(module: str, view: str, /) -> Response:
    response: Response = getattr(importlib.import_module(f"app.hub.setup_guide.{module}"), view)()
    return response
