"""JWT sign-on: issues a JWT to an app, and accepts a JWT of another identity provider."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from flask import Blueprint, Response

from app.contract import errors
from app.contract.jwt import jwt_sign_on_operations
from app.hub import journey
from app.hub.components.error_pages import ErrorPage, RequestError
from app.hub.components.restore_account import offer_restore
from app.hub.components.sign_in_refusals import reason_for
from app.hub.pages.sign_in.login.current_page import render_after_refusal
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import FAILED_REFERENCE, current_visit
from app.kit.operations.errors import ApiError

views = Blueprint("jwt_sign_on", __name__)

ACCESS: Final = "/access/jwt"
_MAX_PARAMETERS: Final = 20


@views.get("/service/jwt/authorize", defaults={"app": ""})
@views.get("/service/jwt/<app>/authorize")
def authorize(app: str) -> Response:
    """Send the visitor back to an app with a JWT, after the sign-in."""
    return _authorize(app)


@views.get("/sso/jwt/redirect/token")
def authorize_older() -> Response:
    """The older address, which names the app in its query."""
    query = {name.lower(): value for name, value in current_visit().query.items()}
    return _authorize(query.get("jwtapp", ""))


def _authorize(app: str) -> Response:
    visit = current_visit()
    query = {name.lower(): value for name, value in visit.query.items()}
    requested = jwt_sign_on_operations.JwtAuthorize(
        app=app[:100],
        client_id=(query.get("client_id") or query.get("apikey") or "")[:100],
        redirect_uri=(query.get("redirect_uri") or query.get("return_url") or "")[:2_000],
        nonce=query.get("nonce", "")[:500] or None,
    )
    try:
        return journey.follow(api()(jwt_sign_on_operations.authorize, requested))
    except (errors.JwtAppNameMissing, errors.JwtConfigurationInvalid) as refusal:
        page = ErrorPage(RequestError.UNKNOWN_APPLICATION, 400, visit.reference, detail=str(refusal.code))
        return page.render(400)


@views.get(ACCESS)
def access() -> Response:
    """Sign in by the JWT of another identity provider. The next address has no token."""
    visit = current_visit()
    pairs = [(name[:200], text) for name, text in visit.query.items(multi=True) if len(text) <= 8_000][:_MAX_PARAMETERS]
    scheme, _, bearer = visit.headers.get("Authorization", "").partition(" ")
    received = jwt_sign_on_operations.JwtAccess(
        parameters=pairs,
        bearer=bearer[:8_000] if scheme.lower() == "bearer" and bearer else None,
        return_url=visit.query.get("return_url", "")[:2_000] or None,
    )
    try:
        return journey.follow(api()(jwt_sign_on_operations.access, received))
    except (errors.JwtRefused, errors.JwtWithoutSubject, errors.ProviderFailed) as refusal:
        query = {"code": refusal.code, FAILED_REFERENCE: current_visit().reference}
        return redirect_to(f"{ACCESS}/error?{urlencode(query)}")
    except errors.AccountLeaving as refusal:
        return offer_restore(refusal)
    except ApiError as refusal:
        return render_after_refusal(reason_for(refusal), status=refusal.status)


@views.get(f"{ACCESS}/error")
def refused() -> Response:
    """Render the error page of a refused JWT sign-on; `code` is for the developers of the other provider."""
    visit = current_visit()
    code = visit.query.get("code", "")
    detail = code if code.isascii() and code.isdigit() and len(code) <= 4 else ""
    reference = visit.failed_reference or visit.reference
    page = ErrorPage(RequestError.SIGN_IN_FAILED, 403, reference, detail=detail, again="/login")
    return page.render(403)
