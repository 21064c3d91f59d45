"""Authorization responses (RFC 6749 sections 4.1.2 and 4.1.2.1): a code or an error, with `iss` (RFC 9207), in the requested mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from app.contract.hub import Next, Step
from app.identity.protocols.oauth.authorize.request import Authorization, RefusedByRedirect


def code(request: Authorization, code: str) -> Next:
    """Return the response with a code."""
    return _response(
        request.redirect_uri, request.response_mode, {"code": code, "state": request.state, "iss": request.issuer}
    )


def error(issuer: str, accepted: Mapping[str, Any], problem: RefusedByRedirect) -> Next:
    """Return the error response; `accepted` has the parameters that passed their checks."""
    parameters = {
        "error": problem.error,
        "error_description": problem.description,
        "state": accepted.get("state"),
        "iss": issuer,
    }
    return _response(accepted["redirect_uri"], accepted.get("response_mode", "query"), parameters)


def _response(redirect_uri: str, mode: str, parameters: Mapping[str, str | None]) -> Next:
    present = {name: value for name, value in parameters.items() if value is not None}
    if mode == "form_post":
        return Next(step=Step.FORM_POST, address=redirect_uri, fields=present)
    separator = "#" if mode == "fragment" else "&" if "?" in redirect_uri else "?"
    return Next(step=Step.REDIRECT, address=f"{redirect_uri}{separator}{urlencode(present, quote_via=quote)}")
