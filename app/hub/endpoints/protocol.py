"""Addresses at which a relying party sends a browser: the raw request goes to the identity service, its answer is obeyed.

A POST from another site comes without our cookies (`SameSite=Lax`): it becomes a GET of the same address, where they are
back.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from app.contract import hub as contract
from app.hub import journey
from app.hub.pages.logout import sign_out
from app.hub.services import api

views = Blueprint("protocol", __name__)

_LONGEST_ADDRESS: Final = 6000
"""Characters of a query that servers and proxies on the way surely take."""


@views.route("/service/oidc/authorize", methods=["GET", "POST"], defaults={"protocol": "oidc", "app": None})
@views.route("/service/oauth/authorize", methods=["GET", "POST"], defaults={"protocol": "oauth", "app": None})
@views.route("/service/<any(oidc,oauth):protocol>/<app>/authorize", methods=["GET", "POST"])
def authorize(protocol: str, app: str | None) -> Response:
    """OAuth 2.0 and OpenID Connect authorization (RFC 6749 §3.1 demands GET and allows POST)."""
    parameters = list((request.form if request.method == "POST" else request.args).items(multi=True))
    if request.method == "POST" and (again := _as_get(parameters)):
        return again
    return journey.follow(
        api()(contract.authorize, contract.AuthorizeRequest(protocol=protocol, app=app, parameters=parameters))
    )


@views.route("/service/oidc/logout", methods=["GET", "POST"], defaults={"protocol": "oidc", "app": None})
@views.route("/service/<any(oidc,oauth):protocol>/<app>/logout", methods=["GET", "POST"])
def logout(protocol: str, app: str | None) -> Response:  # noqa: ARG001 - the issuer of an application signs out as the tenant's does
    """OpenID Connect RP-Initiated Logout 1.0."""
    given = request.form if request.method == "POST" else request.args
    if request.method == "POST" and (again := _as_get(list(given.items(multi=True)))):
        return again
    names = ("id_token_hint", "client_id", "post_logout_redirect_uri", "state")
    asked: dict[str, Any] = {name: value for name in names if (value := given.get(name))}
    return sign_out(contract.SignOutRequest(**asked))


def _as_get(parameters: list[tuple[str, str]]) -> Response | None:
    query = urlencode(parameters, errors="replace")
    return journey.redirect_to(f"{request.path}?{query}") if len(query) <= _LONGEST_ADDRESS else None
