"""The session of the hub's host, for scripts of the tenant's sites.

A site of another registrable domain gets nothing here: browsers send it no `SameSite=Lax` cookie. It works for sites that share the
registrable domain with the tenant's custom domain.
"""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, Response, jsonify

from app.contract import errors
from app.contract.sessions.pages import web_sso_pages
from app.hub.web.cookies import set_cookie, set_session
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError
from app.kit.web.urls import origin_of, sent_origin

views = Blueprint("web_sso", __name__)

_OWN_SCRIPT: Final = ("same-origin", "empty")
"""Site and destination of a request that a script of our page makes; a link, a redirect or a frame has another destination."""
_TRUE: Final = ("true", "1", "yes")
_NO_ORIGIN: Final = "null"
_MAX_ORIGIN_LENGTH: Final = 300


@views.get("/ssologin/login")
def login() -> Response:
    """Tell a site whether the browser is signed in, with an access token."""
    return _answer_session(with_token=True)


@views.get("/ssologin/islogin")
def is_login() -> Response:
    """Tell a site whether the browser is signed in."""
    return _answer_session(with_token=False)


@views.get("/ssologin/refresh")
def refresh() -> Response:
    """Count the visit as a use of the session, and set its cookie again."""
    shared_session = _ask(web_sso_pages.read, web_sso_pages.SharedSessionRequest(origin=_origin(), refreshes=True))
    if isinstance(shared_session, Response):
        return shared_session
    response = _answer({"ok": shared_session.is_authenticated, "isauthenticated": shared_session.is_authenticated})
    if shared_session.renewed_seconds is not None:
        set_cookie(response, services().session_cookie, current_visit().session, shared_session.renewed_seconds)
    return response


@views.get("/ssologin/settoken")
def set_token() -> Response:
    """Begin the session of this host by an access token."""
    return _begin(remember=False)


@views.get("/ssologin/setcustomtoken")
def set_custom_token() -> Response:
    """As set_token; `isrememberme` keeps the session after the browser closes."""
    return _begin(remember=_query_parameters().get("isrememberme", "").lower() in _TRUE)


@views.get("/ssologin/setsafaritoken")
def set_safari_token() -> Response:
    """Set the session by a top-level navigation from a page of a site, then redirect to `callback`; otherwise as `set_token`."""
    query = _query_parameters()
    callback = query.get("callback", "")[:2_000]
    begun = _ask(web_sso_pages.start, _by_token(_referring_origin(), callback=callback))
    if isinstance(begun, Response):
        return begun
    response = redirect_to(callback)
    if begun.session is not None:
        set_session(response, begun.session)
    return response


@views.get("/ssologin/logout")
def logout() -> Response:
    """End the session of this host."""
    ended = _ask(web_sso_pages.end, web_sso_pages.SharedSignOut(origin=_origin()))
    if isinstance(ended, Response):
        return ended
    response = _answer({"ok": True})
    if ended.ends_session:
        set_session(response, None)
    return response


def _answer_session(*, with_token: bool) -> Response:
    shared_session = _ask(
        web_sso_pages.read, web_sso_pages.SharedSessionRequest(origin=_origin(), with_token=with_token)
    )
    if isinstance(shared_session, Response):
        return shared_session
    token = {"token": shared_session.token} if with_token else {}
    return _answer({"isauthenticated": shared_session.is_authenticated, **token})


def _begin(*, remember: bool) -> Response:
    begun = _ask(web_sso_pages.start, _by_token(_origin(), remember=remember))
    if isinstance(begun, Response):
        return begun
    response = _answer({"ok": begun.is_token_valid, "istokenvalid": begun.is_token_valid})
    if begun.session is not None:
        set_session(response, begun.session)
    return response


def _by_token(origin: str, *, remember: bool = False, callback: str | None = None) -> web_sso_pages.SessionByToken:
    query = _query_parameters()
    return web_sso_pages.SessionByToken(
        token=query.get("token", "")[:8_000],
        api_key=query.get("apikey", "")[:100],
        origin=origin,
        remember=remember,
        callback=callback,
    )


def _ask(operation: Any, requested: Any) -> Any:
    """Call an operation; answer a refusal with a response that no other site may read."""
    try:
        return api()(operation, requested)
    except (errors.EndpointForbidden, errors.UnknownKey) as refusal:
        return _refusal(refusal)


def _refusal(refusal: ApiError) -> Response:
    response = jsonify({"ErrorCode": refusal.code, "Message": refusal.message, "Description": refusal.description})
    response.status_code = refusal.status
    return _guarded(response)


def _answer(members: dict[str, Any]) -> Response:
    """Return JSON that the calling site may read: the identity service accepted its origin."""
    response, origin = jsonify(members), _origin()
    if origin:
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Allow-Credentials"] = "true"
    return _guarded(response)


def _guarded(response: Response) -> Response:
    response.headers["Vary"] = "Origin, Cookie"
    response.headers["Cache-Control"] = "no-store"
    return response


def _query_parameters() -> dict[str, str]:
    return {name.lower(): value for name, value in current_visit().query.items()}


def _origin() -> str:
    """Return the origin of the calling site; empty for a script of our own page. Refuse a request whose browser states neither."""
    headers = current_visit().headers
    if "Origin" not in headers and (headers.get("Sec-Fetch-Site"), headers.get("Sec-Fetch-Dest")) == _OWN_SCRIPT:
        return ""
    return _site(sent_origin(headers.get("Origin")))


def _referring_origin() -> str:
    """Return the site whose page led the browser here."""
    return _site(origin_of(current_visit().headers.get("Referer")))


def _site(origin: str) -> str:
    return origin if 0 < len(origin) <= _MAX_ORIGIN_LENGTH else _NO_ORIGIN
