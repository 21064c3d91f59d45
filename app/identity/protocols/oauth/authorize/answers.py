"""Answers at the redirect address: a code or an error, always with `iss` (RFC 9207), in the response mode asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from app.contract.hub import Next, Step
from app.identity.protocols.oauth.authorize.request import Authorization, Redirected


def code(request: Authorization, text: str) -> Next:
    """Return the answer that carries a code."""
    return _answer(
        request.redirect_uri, request.response_mode, {"code": text, "state": request.state, "iss": request.issuer}
    )


def refusal(issuer: str, kept: Mapping[str, Any], problem: Redirected) -> Next:
    """Return the error response; `kept` holds the parameters that passed their checks before the error."""
    parameters = {
        "error": problem.error,
        "error_description": problem.description,
        "state": kept.get("state"),
        "iss": issuer,
    }
    return _answer(kept["redirect_uri"], kept.get("response_mode", "query"), parameters)


def _answer(redirect_uri: str, mode: str, parameters: Mapping[str, str | None]) -> Next:
    present = {name: value for name, value in parameters.items() if value is not None}
    if mode == "form_post":
        return Next(step=Step.FORM_POST, address=redirect_uri, fields=present)
    joint = "#" if mode == "fragment" else "&" if "?" in redirect_uri else "?"
    return Next(step=Step.REDIRECT, address=f"{redirect_uri}{joint}{urlencode(present, quote_via=quote)}")
