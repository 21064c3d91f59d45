"""Assembles the hub's Flask application: services, template environment, pages, endpoints and error pages.

The login page and its static files are registered at start; all other pages are imported after the first response, or by the first
request for one of them (decision 0366).
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import partial

from flask import Blueprint

from app.hub import pages as page_modules
from app.hub.exception_pages import ERROR_PAGES
from app.hub.pages.sign_in.login import views  # noqa: F401 - declares the first page
from app.hub.rendering import assets, environment
from app.hub.web.application import HubFlask
from app.hub.web.services import HubServices
from app.kit.package_files import STATIC


def make_app(shared: HubServices) -> HubFlask:
    """Return the Flask application; `load`, or the first request for a deferred page, imports most pages."""
    development = shared.settings.development
    app = HubFlask(shared, ERROR_PAGES, partial(deferred_views, development=development))
    app.config["WTF_I18N_ENABLED"] = False  # all texts are in the hub's own catalogues
    environment.install(app, development=development)
    assets.install(app, assets.Assets(STATIC, is_fresh=development))
    app.add_views([page_modules.first_page])
    return app


def deferred_views(*, development: bool = False) -> list[Blueprint]:
    """Import the deferred pages and endpoints; return their blueprints."""
    from app.hub import oidc_client  # noqa: PLC0415 - no first page needs them
    from app.hub.endpoints import (  # noqa: PLC0415
        application_logos,
        check_session,
        crawlers,
        device_qr,
        federation,
        jwt_sign_on,
        legacy_addresses,
        protocol,
        theme_files,
        web_sso,
    )

    for module in pkgutil.walk_packages(page_modules.__path__, f"{page_modules.__name__}."):
        importlib.import_module(module.name)
    found = [
        page_modules.pages,
        crawlers.views,
        theme_files.views,
        application_logos.views,
        protocol.views,
        check_session.views,
        device_qr.views,
        legacy_addresses.views,
        oidc_client.views,
        federation.views,
        jwt_sign_on.views,
        web_sso.views,
    ]
    if development:
        from app.hub.gallery import gallery  # noqa: PLC0415

        found.append(gallery)
    return found
