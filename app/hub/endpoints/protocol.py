"""The endpoints of authorization, end of session and SAML: the raw request goes to the identity service, which decides the next step.

A POST from another site arrives without the hub's cookies (`SameSite=Lax`): it is redirected to a GET of the same address,
which has them.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, Response

from app.contract.oauth.pages import authorization_pages
from app.contract.page_models import MAX_TOKEN_LENGTH
from app.contract.saml import saml_operations
from app.contract.saml.saml_operations import LOGIN_PATH, LOGOUT_PATH, SamlMessage
from app.contract.sessions.pages.sign_out_pages import SignOutRequest
from app.hub import journey
from app.hub.components.error_pages import ErrorPage, RequestError
from app.hub.pages.sign_in.logout import sign_out
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.short_links import link_url
from app.hub.web.visit import current_visit

views = Blueprint("protocol", __name__)

_SIGN_OUT: Final = ("id_token_hint", "logout_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales")
_INVITATION: Final = "invitation_token"
_MAX_SAML_QUERY: Final = 262_144
_MAX_SAML_FIELDS: Final = 20
_MAX_QUERY_CHARACTERS: Final = 6000
"""Query length that common servers and proxies accept."""


@views.route("/service/oidc/authorize", methods=["GET", "POST"], defaults={"protocol": "oidc", "app": None})
@views.route("/service/oauth/authorize", methods=["GET", "POST"], defaults={"protocol": "oauth", "app": None})
@views.route("/service/<any(oidc,oauth):protocol>/<app>/authorize", methods=["GET", "POST"])
def authorize(protocol: str, app: str | None) -> Response:
    """OAuth 2.0 and OpenID Connect authorization (RFC 6749 §3.1 demands GET and allows POST)."""
    visit = current_visit()
    parameters = list((visit.form if visit.is_post else visit.query).items(multi=True))
    if visit.is_post and (redirected := _as_get(parameters)):
        return redirected
    if invitation := dict(parameters).get(_INVITATION):
        return _to_invitation(invitation, parameters)
    visit.cookie_brand = ""  # the request names its brand, or has none
    return journey.follow(
        api()(
            authorization_pages.authorize,
            authorization_pages.AuthorizeRequest(protocol=protocol, app=app, parameters=parameters),
        )
    )


@views.route("/service/oidc/logout", methods=["GET", "POST"], defaults={"protocol": "oidc", "app": None})
@views.route("/service/<any(oidc,oauth):protocol>/<app>/logout", methods=["GET", "POST"])
def logout(protocol: str, app: str | None) -> Response:  # noqa: ARG001 - an application's issuer signs out like the tenant's
    """OpenID Connect RP-Initiated Logout 1.0 section 2. A very long id_token_hint of a POST is left out: then people are asked."""
    visit = current_visit()
    fields = visit.form if visit.is_post else visit.query
    if visit.is_post:
        pairs = list(fields.items(multi=True))
        shorter = [(name, value) for name, value in pairs if name != "id_token_hint"]
        if redirected := _as_get(pairs) or _as_get(shorter):
            return redirected
    if any(
        len(fields.getlist(name)) > 1 for name in _SIGN_OUT
    ):  # two readers could pick different values (RFC 6749 section 3.1)
        page = ErrorPage(RequestError.BAD_REQUEST, 400, visit.reference, detail="invalid_request")
        return page.render(400)
    parameters: dict[str, Any] = {name: value for name in _SIGN_OUT if (value := fields.get(name))}
    return sign_out(SignOutRequest(**parameters))


@views.route(LOGIN_PATH, methods=["GET", "POST"])
def login_by_saml() -> Response:
    """SAML single sign-on: start a sign-in for a service provider, by its request or here."""
    current_visit().cookie_brand = ""
    return journey.follow(api()(saml_operations.login, _saml_message()))


@views.route(LOGOUT_PATH, methods=["GET", "POST"])
def logout_by_saml() -> Response:
    """SAML single logout: end the session that a service provider names, or go on to the next one of a sign-out."""
    return journey.follow(api()(saml_operations.logout, _saml_message()))


def _saml_message() -> SamlMessage:
    """Return the query as it was sent, which a signature covers, and the fields of a posted form."""
    visit = current_visit()
    fields = list(visit.form.items(multi=True))[:_MAX_SAML_FIELDS] if visit.is_post else None
    return SamlMessage(query=visit.query_text[:_MAX_SAML_QUERY], fields=fields)


def _to_invitation(token: str, parameters: list[tuple[str, str]]) -> Response:
    """Redirect to the page of an invitation, which returns to the request once it is answered."""
    rest = urlencode([pair for pair in parameters if pair[0] != _INVITATION], errors="replace")
    visit = current_visit()
    return_url = f"{visit.origin}{visit.path}?{rest}"
    address = link_url("/invitation", token[:MAX_TOKEN_LENGTH])
    return redirect_to(f"{address}?{urlencode({'return_url': return_url})}")


def _as_get(parameters: list[tuple[str, str]]) -> Response | None:
    query = urlencode(parameters, errors="replace")
    return redirect_to(f"{current_visit().path}?{query}") if len(query) <= _MAX_QUERY_CHARACTERS else None
