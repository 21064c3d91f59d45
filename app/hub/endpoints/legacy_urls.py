"""Legacy addresses in existing mails and applications: they redirect to the present pages."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

from flask import Blueprint, Response
from werkzeug.exceptions import NotFound

from app.contract.page_models import MAX_TOKEN_LENGTH
from app.contract.sessions.pages.sign_out_pages import SignOutRequest
from app.contract.sign_in import sign_in_pages
from app.contract.workflows.names import MAX_WORKFLOW_NAME
from app.hub import journey
from app.hub.components.error_pages import ErrorPage, RequestError
from app.hub.pages.sign_in.logout import sign_out
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.short_links import PARAMETER, link_url
from app.hub.web.visit import current_visit

views = Blueprint("older_addresses", __name__)

_START_ACTIONS: Final = ("", "login", "register", "forgotpassword")
"""Values of `action` that start an interaction."""


ORGANIZATION: Final = ("org_name", "org")
"""Parameters that name an organization, whose look the sign-in page then has."""
_MAX_ORGANIZATION: Final = 400
_AUTHORIZE: Final = re.compile(r"/service/(?:oidc|oauth)(?:/[^/]+)?/authorize", re.IGNORECASE)
_PAGES_BY_LINK_TYPE: Final = {
    "emailverification": "/verify", "reset": "/reset-password", "resetpin": "/reset-pin", "deleteuser": "/delete-account",
    "oneclicksignin": "/sign-in/link", "autologin": "/sign-in/approve", "resetpasskey": "/passkeys/reset",
}  # fmt: skip
"""Pages of mailed links by `vtype`."""


@views.get("/auth.aspx")
@views.get("/auth")
def auth() -> Response:
    """The legacy authentication page; `action` and `vtype` select the page."""
    visit = current_visit()
    if invitation := visit.query.get("invitation_token", "")[:MAX_TOKEN_LENGTH]:
        parameters = _given_parameters("return_url", "lang")
        address = link_url("/invitation", invitation)
        return redirect_to(f"{address}?{urlencode(parameters)}" if parameters else address)
    action, return_url = visit.query.get("action", "").lower(), visit.query.get("return_url")
    if action == "logout":
        return sign_out(SignOutRequest(return_url=return_url))
    if page := _PAGES_BY_LINK_TYPE.get(visit.query.get("vtype", "").lower()):
        address = link_url(page, visit.query.get(PARAMETER, "")[:MAX_TOKEN_LENGTH])
        parameters = _given_parameters("attempt", "lang")
        return redirect_to(f"{address}?{urlencode(parameters)}" if parameters else address)
    if visit.query.get("vtype") or action not in _START_ACTIONS:
        raise NotFound
    organization = next((text for name in ORGANIZATION if (text := visit.query.get(name, "").strip())), "")
    requested = sign_in_pages.ReturnRequest(
        return_url=_for_organization(return_url, organization),
        action=action or "login",
        organization=organization[:_MAX_ORGANIZATION] or None,
        workflow=visit.query.get("workflow", "")[:MAX_WORKFLOW_NAME] or None,
    )
    response = api()(sign_in_pages.open_return, requested)
    return journey.follow(response.model_copy(update=_given_parameters("ui_locales", "login_hint")))


def _for_organization(return_url: str | None, organization: str) -> str | None:
    """Return the return address; add the organization to an authorization request of this tenant that names none."""
    if not return_url or not organization:
        return return_url
    try:
        parts = urlsplit(return_url)
    except ValueError:
        return return_url  # the identity service refuses it
    if not parts.query:
        return return_url
    is_own = parts.netloc in ("", current_visit().host) and _AUTHORIZE.fullmatch(parts.path) is not None
    if not is_own or "organization" in parse_qs(parts.query):
        return return_url
    return urlunsplit(parts._replace(query=f"{parts.query}&{urlencode({'organization': organization})}"))


def _given_parameters(*names: str) -> dict[str, str]:
    return {name: value for name in names if (value := current_visit().query.get(name))}


@views.get("/profile.aspx")
def profile() -> Response:
    return redirect_to("/profile")


@views.get("/")
def start() -> Response:
    """The root: the profile, or with `action` the legacy authentication page."""
    return auth() if current_visit().query.get("action") else redirect_to("/profile")


@views.get("/error.aspx")
@views.get("/error")
def error() -> Response:
    """The legacy error page of federation; shows `code` if it is well-formed."""
    visit = current_visit()
    code = visit.query.get("code", "")
    error_code = code if code.replace("_", "").isalnum() and code.isascii() and len(code) <= 40 else ""
    return ErrorPage(RequestError.BAD_REQUEST, 400, visit.reference, detail=error_code).render(400)


@views.get("/.well-known/change-password")
def change_password() -> Response:
    """The address for password managers (W3C change-password-url)."""
    return redirect_to("/change-password")
