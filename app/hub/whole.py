"""The application of all pages and endpoints of the hub."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from http import HTTPStatus
from typing import Any, Final

from flask import Flask, Response
from werkzeug.exceptions import HTTPException

from app.contract.errors import BadParameter, BadPostBody, Dangerous, HubRefused, TooManyRequests, UnknownTenant
from app.hub import flask_app, lifecycle, oidc_client
from app.hub import pages as page_modules
from app.hub.endpoints import (
    application_logos,
    check_session,
    crawlers,
    device_qr,
    federation,
    jwt_sign_on,
    legacy_addresses,
    protocol,
    theme_files,
    web_sso,
)
from app.hub.gallery import gallery
from app.hub.identity_client import AccountChanged
from app.hub.journey import InteractionGone, start_again
from app.hub.kept_pages import KeptPages
from app.hub.pages.account_changed import account_changed
from app.hub.parts.error_pages import ErrorPage, RequestError, unknown_tenant
from app.hub.services import Services
from app.hub.visit import current_visit, retry_address
from app.kit.client import ServiceUnavailable
from app.kit.errors import ApiError
from app.kit.throttled_log import ThrottledLog

log = logging.getLogger("gatehouse.hub")
_SIGNATURE_REFUSED: Final = (
    "The identity service shares no line of this hub's GATEHOUSE_SECRET_KEY, or their clocks differ by over a minute."
)


def make_app(shared: Services) -> Flask:
    """Return the Flask application of the whole hub."""
    app = flask_app.make_flask_app(shared.settings.secrets, development=shared.settings.development)
    app.extensions["gatehouse"] = shared
    lifecycle.install(app)
    import_pages()
    for views in (
        page_modules.pages,
        crawlers.views,
        theme_files.views,
        application_logos.views,
        protocol.views,
        check_session.views,
        device_qr.views,
        legacy_addresses.views,
        oidc_client.views,
        federation.views,
        jwt_sign_on.views,
        web_sso.views,
    ):
        app.register_blueprint(views)
    if shared.settings.development:
        app.register_blueprint(gallery)
    app.register_error_handler(AccountChanged, lambda _: account_changed())
    _register_error_pages(app)
    KeptPages.install(app)
    return app


def import_pages() -> None:
    """Import the modules of all pages, which register their views."""
    for module in pkgutil.iter_modules(page_modules.__path__):
        importlib.import_module(f"{page_modules.__name__}.{module.name}")


def _register_error_pages(app: Flask) -> None:
    """Render declared errors as pages in the visitor's language; each shows the reference that the log line has."""
    _register_unexpected_error_pages(app)
    unavailable = ThrottledLog(log, logging.ERROR)

    app.register_error_handler(UnknownTenant, unknown_tenant)

    @app.errorhandler(InteractionGone)
    def interaction_gone(_: InteractionGone) -> Response:
        return start_again()

    @app.errorhandler(TooManyRequests)
    def too_many(refusal: TooManyRequests) -> Response:
        response = _error_page(429, refusal.retry_after_seconds or 0)
        response.headers["Retry-After"] = str(refusal.retry_after_seconds or 60)
        return response

    @app.errorhandler(BadParameter)
    @app.errorhandler(BadPostBody)
    @app.errorhandler(Dangerous)
    def malformed_request(_: ApiError) -> Response:
        """The address or form holds text that the service refuses: a NUL byte, an unpaired surrogate."""
        visit = current_visit()
        return ErrorPage(RequestError.BAD_REQUEST, 400, visit.reference, detail="invalid_request").render(400)

    @app.errorhandler(HubRefused)
    def signature_refused(_: HubRefused) -> Response:
        log.error("hub.refused", extra={"problem": _SIGNATURE_REFUSED, "reference": current_visit().reference})
        return _unavailable_page()

    @app.errorhandler(ServiceUnavailable)
    def service_unavailable(problem: ServiceUnavailable) -> Response:
        reference = current_visit().reference
        if problem.status == HTTPStatus.SERVICE_UNAVAILABLE:
            cause = problem.__cause__ or problem
            unavailable.write("503", "hub.unavailable", reference=reference, problem=f"{type(cause).__name__}: {cause}")
            return _unavailable_page()
        log.error("the identity service answered %s, reference %s", problem.status, reference, exc_info=problem)
        return _error_page(problem.status)


def _register_unexpected_error_pages(app: Flask) -> None:
    """Render errors that Flask raises, and unexpected exceptions."""

    @app.errorhandler(HTTPException)
    def http_error(problem: HTTPException) -> Any:
        if problem.response is not None or (problem.code or 500) < 400:
            return problem.get_response()
        wait = getattr(problem, "retry_after", None)
        response = _error_page(problem.code or 500, wait if isinstance(wait, int) else 0)
        for name, value in problem.get_headers():
            if name in ("Allow", "Retry-After"):
                response.headers[name] = value
        return response

    @app.errorhandler(Exception)
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
    again = retry_address() if is_too_many or status == HTTPStatus.SERVICE_UNAVAILABLE else ""
    return ErrorPage.of(
        status,
        reference=visit.reference,
        relying_party=visit.relying_party,
        home=home,
        again=again,
        has_no_tenant=has_no_tenant,
        wait_seconds=wait_seconds if is_too_many else 0,
    ).render(status)
