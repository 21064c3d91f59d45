"""Completes every response of the hub: changed cookies, security headers, and cost headers if the settings enable them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIEnvironment

from flask import Response
from werkzeug import utils
from werkzeug.wrappers import Response as AnyResponse

from app.hub.web.cookies import set_cookie, set_interaction_cookie
from app.hub.web.csrf import is_cross_origin_request
from app.hub.web.security_headers import with_security_headers
from app.hub.web.services import COST_HEADER, services
from app.hub.web.visit import Visit, current_visit

_YEAR_SECONDS: Final = 365 * 24 * 3600


def redirect(address: str, status: int) -> Response:
    """Return a redirect to any address; characters that a URI cannot hold are percent-encoded."""
    response: Response = utils.redirect(address, status, Response)  # type: ignore[assignment]  # the class that is given
    return response


def redirect_to(address: str) -> Response:
    """Redirect with 302; after a POST with 303, so that the browser does not post the form again (RFC 9110 §15.4.4)."""
    return redirect(address, 303 if current_visit().is_post else 302)


def finish(response: AnyResponse, visit: Visit) -> AnyResponse:
    """Set the cookies that the visit changed, and the cost headers if the settings enable them; return the response."""
    _set_cookies(response, visit)
    if services().settings.shows_cost:
        response.headers[COST_HEADER] = _sum_costs(visit.costs)
    return response


def send(response: AnyResponse, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Send a response with the security headers (PEP 3333)."""

    def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None, /) -> Callable[[bytes], object]:
        return start_response(status, with_security_headers(headers), exc_info)

    return response(environ, start)


def _set_cookies(response: AnyResponse, visit: Visit) -> None:
    shared = services()
    if visit.renewed:
        set_cookie(response, shared.session_cookie, visit.renewed.token, visit.renewed.lifetime_seconds)
    if visit.is_reopened and visit.interaction is not None:
        set_interaction_cookie(response, visit.interaction)
    if visit.is_binding_new and not is_cross_origin_request(visit.environ, visit.host, is_https=shared.is_https):
        set_cookie(response, shared.browser_cookie, visit.binding, None)
    if visit.is_device_passkey_new:
        set_cookie(response, shared.passkey_cookie, visit.device_passkey, _YEAR_SECONDS)
    interaction = visit.interaction
    if visit.chosen_language:
        set_cookie(response, shared.language_cookie, visit.chosen_language, _YEAR_SECONDS)
        interaction = interaction and interaction.with_language(visit.chosen_language)
    if visit.chosen_brand is not None:
        set_cookie(response, shared.brand_cookie, visit.chosen_brand, None)
        interaction = interaction and interaction.with_brand(visit.chosen_brand)
    if interaction is not None and interaction != visit.interaction:
        set_interaction_cookie(response, interaction)


def _sum_costs(costs: list[str]) -> str:
    """Add up the cost headers of all calls; return `api=2; sql=5; ...`."""
    total = {"api": 0, "sql": 0, "commits": 0, "hashes": 0, "signatures": 0}
    for cost in costs:
        for part in cost.split(";"):
            name, _, count = part.strip().partition("=")
            if count.isdigit():
                total[name] = total.get(name, 0) + int(count)
    return "; ".join(f"{name}={count}" for name, count in total.items())
