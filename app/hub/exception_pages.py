"""The error page for each exception, in the visitor's language; each shows the request id that is in the log."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from app.contract.errors import (
    BadParameter,
    BadPostBody,
    Dangerous,
    EndpointForbidden,
    HubRefused,
    TooManyRequests,
    UnknownTenant,
)
from app.hub import oidc_client
from app.hub.account_pages import ReauthenticationRequired, landing_of
from app.hub.client.identity_client import SignInRequired
from app.hub.components.error_pages import ErrorPage, RequestError, UnknownTenantPage
from app.hub.journey import InteractionGone, start_again
from app.hub.web.errors import ErrorPages
from app.hub.web.responses import redirect_to
from app.hub.web.visit import current_visit, retry_url
from app.kit.observability.throttled_log import ThrottledLog
from app.kit.operations.client import ServiceUnavailable
from app.kit.operations.errors import ApiError

log = logging.getLogger("gatehouse.hub")
ERROR_PAGES: Final = ErrorPages()
_unavailable: Final = ThrottledLog(log, logging.ERROR)
_SIGNATURE_REFUSED: Final = (
    "The identity service shares no line of this hub's GATEHOUSE_SECRET_KEY, or their clocks differ by over a minute."
)


@ERROR_PAGES.answers(UnknownTenant)
def unknown_tenant(_: UnknownTenant) -> Response:
    """Render the page for a host without a tenant."""
    return UnknownTenantPage(current_visit().host[:255]).render(404)


@ERROR_PAGES.answers(InteractionGone)
def interaction_gone(_: InteractionGone) -> Response:
    return start_again()


@ERROR_PAGES.answers(SignInRequired)
def signed_out(_: SignInRequired) -> Response:
    """Begin a sign-in that continues at the account page."""
    return oidc_client.start_login(landing_of(current_visit()))


@ERROR_PAGES.answers(ReauthenticationRequired)
def reauthentication_required(_: ReauthenticationRequired) -> Response:
    """Redirect to the page that reauthenticates, and continues at the account page."""
    return redirect_to(f"/confirm?{urlencode({'next': landing_of(current_visit())})}")


@ERROR_PAGES.answers(TooManyRequests)
def too_many(refusal: TooManyRequests) -> Response:
    response = _error_page(429, refusal.retry_after_seconds or 0)
    response.headers["Retry-After"] = str(refusal.retry_after_seconds or 60)
    return response


@ERROR_PAGES.answers(BadParameter, BadPostBody, Dangerous)
def malformed_request(_: ApiError) -> Response:
    """Render the page for an address or form with text that the service refuses: a NUL byte, an unpaired surrogate."""
    visit = current_visit()
    return ErrorPage(RequestError.BAD_REQUEST, 400, visit.reference, detail="invalid_request").render(400)


@ERROR_PAGES.answers(EndpointForbidden)
def switched_off(_: EndpointForbidden) -> Response:
    """Render the page for a feature that this tenant has disabled, also if it was disabled while the page was open."""
    return _error_page(404)


@ERROR_PAGES.answers(HubRefused)
def signature_refused(_: HubRefused) -> Response:
    log.error("hub.refused", extra={"problem": _SIGNATURE_REFUSED, "reference": current_visit().reference})
    return _unavailable_page()


@ERROR_PAGES.answers(ServiceUnavailable)
def service_unavailable(problem: ServiceUnavailable) -> Response:
    reference = current_visit().reference
    if problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
        cause = problem.__cause__ or problem
        _unavailable.write("503", "hub.unavailable", reference=reference, problem=f"{type(cause).__name__}: {cause}")
        return _unavailable_page()
    log.error("the identity service answered %s, reference %s", problem.status, reference, exc_info=problem)
    return _error_page(problem.status)


@ERROR_PAGES.answers(HTTPException)
def http_error(problem: HTTPException) -> Response:
    """Render the page for an HTTP error that a view, a form or the routing raised; return a redirect as it is."""
    if problem.response is not None or (problem.code or 500) < 400:
        return problem.get_response()
    wait = getattr(problem, "retry_after", None)
    response = _error_page(problem.code or 500, wait if isinstance(wait, int) else 0)
    for name, value in problem.get_headers():
        if name in ("Allow", "Retry-After"):
            response.headers[name] = value
    return response


@ERROR_PAGES.answers(Exception)
def unexpected_error(problem: Exception) -> Response:
    log.error("a page broke, reference %s", current_visit().reference, exc_info=problem)
    return _error_page(500)


def _unavailable_page() -> Response:
    response = _error_page(503)
    response.headers["Retry-After"] = "5"
    return response


def _error_page(status: int, wait_seconds: int = 0) -> Response:
    """Return the page of an error; only "too many attempts" counts down, because the others name no time to rely on."""
    visit = current_visit()
    has_no_tenant = not visit.tenant.name
    home = visit.interaction.home if visit.interaction else ""
    is_too_many = status == HTTPStatus.TOO_MANY_REQUESTS
    again = retry_url() if is_too_many or status == HTTPStatus.SERVICE_UNAVAILABLE else ""
    return ErrorPage.of(
        status,
        reference=visit.reference,
        relying_party=visit.relying_party,
        home=home,
        again=again,
        has_no_tenant=has_no_tenant,
        wait_seconds=wait_seconds if is_too_many else 0,
    ).render(status)
