"""Previews of versions of themes: the gallery on the tenant's host, by an address that the identity service made.

A preview has no session, changes no cookie, and shows samples alone; browsers run no script of its pages and send none of their forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Final, TypeVar
from urllib.parse import quote

from flask import Response, abort, current_app, render_template

from app.contract.errors import BadParameter, UnknownThemeVersion
from app.contract.tenants.tenant_pages import (
    PREVIEW_TOKEN,
    THEME_PREVIEWS,
    MailPreview,
    MailPreviewRequest,
    MessagePreviewsRequest,
    ThemePreviewRequest,
    theme_mail_preview,
    theme_message_previews,
    theme_preview,
)
from app.hub.components.error_pages import PREVIEW_ENDED, ErrorPage
from app.hub.gallery import Gallery, index_page, index_response, sample_page, use_brand
from app.hub.locale import LANGUAGES, SOURCE, lookup
from app.hub.rendering.assets import asset_response
from app.hub.rendering.page import HTML
from app.hub.tenants.branding import PageBranding, css_asset
from app.hub.tenants.read_branding import page_branding
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.operation import Operation
from app.kit.operations.wire import Wire
from app.kit.web.urls import file_source, is_source

Req = TypeVar("Req", bound=ThemePreviewRequest)
Res = TypeVar("Res", bound=Wire)
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


def messages(token: str) -> Response:
    """Show every mail and text message in every state, in one of the languages."""
    brand, title, _ = _previewed(token)
    visit, folder = current_visit(), f"{THEME_PREVIEWS}/{token}"
    language = LANGUAGES.get(visit.query.get("lang", SOURCE.tag)) or abort(404)
    found = _answer(theme_message_previews, MessagePreviewsRequest.model_construct(token=token, language=language.tag))
    html = render_template(
        "theme_preview.html",
        content="messages",
        title=title,
        brand=brand,
        nonce=visit.nonce,
        style=f"/static/{current_app.extensions['gatehouse.assets'].style('console').name}",
        tag=language.tag,
        languages=LANGUAGES,
        index=lambda tag, name="index": f"{folder}{'/messages' if name == 'emails' else ''}?lang={tag}",
        mails=mails_by_kind(found.mails),
        texts=found.texts,
        mail_address=lambda each: f"{folder}/messages/{each.kind}/{quote(each.state)}?lang={language.tag}",
    )
    policy = (
        f"default-src 'none'; style-src 'nonce-{visit.nonce}'; img-src data: 'self'; frame-src 'self'; form-action 'none'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    return _without_cookies(index_response(html, policy))


def mail(token: str, kind: str, state: str) -> Response:
    """Show the HTML of a mail, which loads nothing but its pictures: those of this host, and the theme's logos."""
    tag = current_visit().query.get("lang", SOURCE.tag)
    request = MailPreviewRequest.model_construct(token=token, language=tag, kind=kind, state=state)
    found = _answer(theme_mail_preview, request)
    pictures = " ".join(sorted({file_source(address) for address in found.pictures if is_source(file_source(address))}))
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src 'self' {pictures}; form-action 'none'; base-uri 'none'; "
        "frame-ancestors 'self'; sandbox"
    )
    headers = {"Content-Security-Policy": policy, "X-Frame-Options": "SAMEORIGIN"}
    return _without_cookies(Response(found.html, headers=headers, content_type=HTML))


def style_sheet(token: str, name: str) -> Response:
    """The style sheet of the version; 404 for every other file."""
    css = _previewed(token)[0].css
    if not css or name != css_asset(css).name:
        abort(404)
    response = asset_response(css_asset(css), is_current=True)
    response.headers["Cache-Control"] = "no-store"
    return response


def _gallery(token: str) -> Gallery:
    brand, title, sources = _previewed(token)
    use = partial(use_brand, current_visit().tenant.name, brand)
    return Gallery(f"{THEME_PREVIEWS}/{token}", {_LOOK: title}, use, title, sources=sources)


def _previewed(token: str) -> tuple[PageBranding, str, dict[str, str]]:
    """Return the branding of the previewed version, its title, and where its values come from."""
    found, tenant = _answer(theme_preview, ThemePreviewRequest.model_construct(token=token)), current_visit().tenant
    brand = page_branding(found.brand, tenant.name, found.display_name, tenant.languages[0])
    # without a digest, a template that fails is not reported
    brand = replace(brand, css_folder=f"{THEME_PREVIEWS}/{token}", theme_digest="")
    return brand, f"{brand.name}, version {found.version}", found.sources


def mails_by_kind(mails: Iterable[MailPreview]) -> list[tuple[str, list[MailPreview]]]:
    """Return the mails as the index of messages has them: each kind with its states."""
    return [(kind, list(states)) for kind, states in groupby(mails, lambda each: each.kind)]


def _answer(operation: Operation[Req, Res], request: Req) -> Res:
    """Return what a preview shows; from now on, the visit is of an unknown browser.

    Aborts with 404: with the page of `_ended` if no preview is at the address, otherwise because it has no such part.
    """
    visit = current_visit()
    visit.session, visit.others, visit.trusted, visit.device_passkey, visit.cookies = "", (), "", "", {}
    visit.chosen_language = visit.cookie_language = ""
    if not PREVIEW_TOKEN.fullmatch(request.token):
        abort(_ended())
    try:
        return api()(operation, request)
    except (BadParameter, UnknownThemeVersion):
        if operation is theme_preview:
            abort(_ended())
        _previewed(request.token)  # aborts if the preview itself ended
        abort(404)


def _ended() -> Response:
    """Return the page for an address that expired or never existed, so that it does not tell which."""
    visit = current_visit()
    visit.chosen_language = lookup(visit.query.get("lang", ""), LANGUAGES) or ""
    visit.choose_language()
    return _without_cookies(ErrorPage(PREVIEW_ENDED, 404, visit.reference).render(404))


def _without_cookies(response: Response) -> Response:
    """Return the response of a visit that changes no cookie: rendering a form made one for the browser."""
    visit = current_visit()
    visit.is_binding_new = visit.is_device_passkey_new = visit.is_reopened = False
    visit.chosen_language = ""
    return response
