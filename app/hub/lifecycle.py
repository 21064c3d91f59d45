"""Hooks around every request of the hub: queue for hashing, set up the visit before the view, set cookies after it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final

from flask import Flask, Response, request
from flask.globals import request_ctx
from werkzeug.exceptions import ServiceUnavailable, TooManyRequests

from app.hub import locale
from app.hub.cookies import OTHERS_SEPARATOR, set_cookie, set_interaction_cookie
from app.hub.frame import LANGUAGE_PARAMETER
from app.hub.locale import LANGUAGES
from app.hub.pages import security_alert
from app.hub.services import COST_HEADER, Services, api, services
from app.hub.short_links import page_path
from app.hub.visit import SHOWN_UID, Visit, current_visit, requested_interaction_id, set_current_visit
from app.kit.admission import SHED, QueueSlot, Shed
from app.kit.operation import Hashing

_YEAR_SECONDS: Final = 365 * 24 * 3600
_MOST_OTHERS, _LONGEST_OTHERS = 4, 400
"""Sessions of other accounts in their cookie, and its characters."""
_PATHS_WITHOUT_TENANT: Final = ("/static/", "/_gallery")
_HASHING: Final = Hashing("sign-in", ("password", "pin", "answer"))
"""A form hashes if one of these is in its field names (decisions/0152) ..."""
_GENERATES_PASSWORD: Final = frozenset({security_alert.ADDRESS})
"""... or if it generates a new password."""
_BULK_PATHS: Final = frozenset({"/register"})


def install(app: Flask) -> None:
    """Register the hooks."""
    app.before_request(begin_request)
    app.before_request(refuse_shed)
    app.after_request(finish_response)


def queue_slot(app: Flask, environ: Mapping[str, Any]) -> QueueSlot | None:
    """Return the queue slot of a page's request; None if it computes no hash. Makes no API call."""
    path, stream = page_path(environ["PATH_INFO"]), environ["wsgi.input"]
    body = stream.getvalue() if isinstance(stream, io.BytesIO) else b""
    if path not in _GENERATES_PASSWORD and not _HASHING.may_hash(environ["QUERY_STRING"], body):
        return None
    services: Services = app.extensions["gatehouse"]
    tenant = services.tenancy.cached_name(environ.get("HTTP_HOST", "").lower())
    return QueueSlot(tenant, "bulk" if path in _BULK_PATHS else _HASHING.work)


def refuse_shed() -> None:
    """Refuse a request that the hash queue shed. Raises TooManyRequests or ServiceUnavailable."""
    shed: Shed | None = request.environ.get(SHED)
    if shed is not None:
        error = TooManyRequests if shed.unavailable_status == TooManyRequests.code else ServiceUnavailable
        raise error(retry_after=shed.retry_after_seconds)


def begin_request() -> None:
    """Set up the visit: tenant, cookies, interaction, language.

    Raises:
        UnknownTenant: no tenant has this host.
        ServiceUnavailable: the identity service does not answer.
    """
    asked = request_ctx.request  # each access through the proxy costs a look-up
    shared, cookies = services(), asked.cookies
    visit = set_current_visit(
        Visit(
            host=asked.host.lower(),
            scheme=asked.scheme,
            address=asked.remote_addr or "",
            session=cookies.get(shared.session_cookie, ""),
            posted_uid=asked.form.get(SHOWN_UID, "")[:64] if asked.method == "POST" else "",
            others=_others(cookies.get(shared.other_sessions_cookie, "")),
            trusted=cookies.get(shared.trusted_cookie, "")[:64],
            binding=cookies.get(shared.browser_cookie, "")[:64],
            device_passkey=cookies.get(shared.passkey_cookie, "")[:64],
            cookie_language=cookies.get(shared.cookie_prefix + locale.COOKIE, ""),
        )
    )
    chosen = asked.args.get(LANGUAGE_PARAMETER) or asked.args.get("language", "")
    visit.chosen_language = chosen if asked.method == "GET" else ""
    try:
        if not asked.path.startswith(_PATHS_WITHOUT_TENANT):
            visit.tenant = shared.tenancy.by_host(visit.host, api)
            if interaction_id := requested_interaction_id():
                visit.interaction = shared.interactions.read(cookies, visit.tenant.name, interaction_id)
    finally:  # the error page needs a language too
        visit.choose_language()


def _others(text: str) -> tuple[str, ...]:
    """Return the tokens of the cookie with the sessions of other accounts."""
    return tuple(one for one in text[:_LONGEST_OTHERS].split(OTHERS_SEPARATOR) if one)[:_MOST_OTHERS] if text else ()


def finish_response(response: Response) -> Response:
    """Set the cookies that the visit changed, and the cost header where the settings ask for it."""
    shared, visit = services(), current_visit()
    if visit.renewed:
        set_cookie(response, shared.session_cookie, visit.renewed.token, visit.renewed.lifetime_seconds)
    if visit.is_binding_new:
        set_cookie(response, shared.browser_cookie, visit.binding, None)
    if visit.is_device_passkey_new:
        set_cookie(response, shared.passkey_cookie, visit.device_passkey, _YEAR_SECONDS)
    if visit.chosen_language in LANGUAGES:
        set_cookie(response, shared.cookie_prefix + locale.COOKIE, visit.chosen_language, _YEAR_SECONDS)
        if visit.interaction:
            set_interaction_cookie(response, visit.interaction.with_language(visit.chosen_language))
    if shared.settings.shows_cost:
        response.headers[COST_HEADER] = _sum_costs(visit.costs)
    return response


def _sum_costs(costs: list[str]) -> str:
    """Add up the cost headers of all calls; return `api=2; sql=5; ...`."""
    total = {"api": 0, "sql": 0, "commits": 0, "hashes": 0, "signatures": 0}
    for cost in costs:
        for part in cost.split(";"):
            name, _, count = part.strip().partition("=")
            if count.isdigit():
                total[name] = total.get(name, 0) + int(count)
    return "; ".join(f"{name}={count}" for name, count in total.items())
