"""Authorization responses (RFC 6749 sections 4.1.2, 4.1.2.1 and 4.2.2), with `iss` (RFC 9207), in the requested mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from app.contract.steps import FormPostStep, RedirectStep, StepResponse
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import refusal_log
from app.identity.protocols.oauth.authorize.oauth_parameters import response_mode
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect
from app.identity.protocols.oauth.authorize.responses import jarm


def success(
    context: Context, client: Application, request: CheckedRequest, parameters: Mapping[str, str | None]
) -> StepResponse:
    """Return the response with a code or tokens."""
    sent = {**parameters, "state": request.state, "iss": request.issuer}
    return _response(context, client, request.redirect_uri, request.response_mode, sent)


def error(
    context: Context, client: Application, issuer: str, accepted: Mapping[str, Any], problem: RefusedByRedirect
) -> StepResponse:
    """Return the error response; `accepted` has the parameters that passed their checks."""
    parameters = {
        "error": problem.error,
        "error_description": problem.description,
        "state": accepted.get("state"),
        "iss": issuer,
    }
    mode, redirect_uri = accepted.get("response_mode", response_mode.of_refusals(client)), accepted["redirect_uri"]
    refusal_log.log(problem.error, problem.description, client_id=client.client_id, redirect_uri=redirect_uri)
    return _response(context, client, redirect_uri, mode, parameters)


def _response(
    context: Context, client: Application, redirect_uri: str, mode: str, parameters: Mapping[str, str | None]
) -> StepResponse:
    present = {name: value for name, value in parameters.items() if value is not None}
    if response_mode.MODES[mode].is_signed:
        present = {"response": jarm.signed(context, client, present)}
    return deliver(redirect_uri, response_mode.MODES[mode].carrier, present)


def deliver(redirect_uri: str, carrier: str, parameters: Mapping[str, str]) -> StepResponse:
    """Return the step that brings the parameters to the redirect URI."""
    if carrier == response_mode.FORM_POST:
        return StepResponse(step=FormPostStep(address=redirect_uri, fields=dict(parameters)))
    separator = "#" if carrier == response_mode.FRAGMENT else "&" if "?" in redirect_uri else "?"
    encoded = "&".join(f"{name}={quote(value, safe='')}" for name, value in parameters.items())
    return StepResponse(step=RedirectStep(address=f"{redirect_uri}{separator}{encoded}"))
