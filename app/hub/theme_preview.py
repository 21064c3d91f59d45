"""Previews of versions of themes: the gallery on the tenant's host, by an address that the identity service made.

A preview has no session, changes no cookie, and shows samples alone; browsers run no script of its pages and send none of their forms.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Final

from flask import Response, abort

from app.contract.errors import BadParameter, UnknownThemeVersion
from app.contract.tenants.tenant_pages import MAX_PREVIEW_TOKEN, THEME_PREVIEWS, ThemePreviewRequest, theme_preview
from app.hub.gallery import Gallery, index_page, sample_page, use_brand
from app.hub.rendering.assets import asset_response
from app.hub.tenants.branding import PageBranding, css_asset, page_branding
from app.hub.web.services import api
from app.hub.web.visit import current_visit

_TOKEN: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_PREVIEW_TOKEN}}}")
_LOOK: Final = "version"
_FORMS: Final = re.compile(r"form-action [^;]*")


def index(token: str) -> Response:
    """Show every page in every state, in one of the languages."""
    return _without_cookies(index_page(_gallery(token)))


def sample_of(token: str, page_name: str, sample: str) -> Response:
    """Show one page in one state."""
    response = sample_page(_gallery(token), page_name, sample)
    policy = _FORMS.sub("form-action 'none'", response.headers["Content-Security-Policy"])
    response.headers["Content-Security-Policy"] = f"{policy}; sandbox allow-same-origin"
    return _without_cookies(response)


def style_sheet(token: str, name: str) -> Response:
    """The style sheet of the version; 404 for every other file."""
    css = _previewed(token)[0].css
    if not css or name != css_asset(css).name:
        abort(404)
    response = asset_response(css_asset(css), is_current=True)
    response.headers["Cache-Control"] = "no-store"
    return response


def _gallery(token: str) -> Gallery:
    brand, title = _previewed(token)
    use = partial(use_brand, current_visit().tenant.name, brand)
    return Gallery(f"{THEME_PREVIEWS}/{token}", {_LOOK: title}, use, title)


def _previewed(token: str) -> tuple[PageBranding, str]:
    """Return the branding of the previewed version, and its title; from now on the visit is of an unknown browser."""
    visit = current_visit()
    visit.session, visit.others, visit.trusted, visit.device_passkey, visit.cookies = "", (), "", "", {}
    visit.chosen_language = visit.cookie_language = ""
    if not _TOKEN.fullmatch(token):
        abort(404)
    try:
        found = api()(theme_preview, ThemePreviewRequest.model_construct(token=token))
    except (BadParameter, UnknownThemeVersion):
        abort(404)
    tenant = visit.tenant
    brand = page_branding(found.brand, tenant.name, found.display_name, tenant.languages[0])
    # without a digest, a template that fails is not reported
    brand = replace(brand, css_folder=f"{THEME_PREVIEWS}/{token}", theme_digest="")
    return brand, f"{brand.name}, version {found.version}"


def _without_cookies(response: Response) -> Response:
    """Return the response of a visit that changes no cookie: rendering a form made one for the browser."""
    visit = current_visit()
    visit.is_binding_new = visit.is_device_passkey_new = visit.is_reopened = False
    visit.chosen_language = ""
    return response
