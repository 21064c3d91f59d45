"""Hooks around every request of the hub: set up the visit before the view, set cookies after it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from wsgiref.types import WSGIEnvironment

from flask import Flask, Response
from flask.globals import request_ctx  # noqa: TID251 - where the visit begins
from werkzeug.exceptions import ServiceUnavailable, TooManyRequests
from werkzeug.sansio.http import parse_cookie
from werkzeug.wsgi import get_host

from app.contract import hub as contract
from app.hub.cookies import OTHERS_SEPARATOR, set_cookie, set_interaction_cookie
from app.hub.frame import LANGUAGE_PARAMETER
from app.hub.interaction import interaction_from_step
from app.hub.locale import LANGUAGES, lookup
from app.hub.safety import is_sent_elsewhere
from app.hub.services import COST_HEADER, Services, api, services
from app.hub.visit import SHOWN_UID, Visit, current_visit, requested_interaction_id, set_current_visit
from app.kit.admission import SHED, Shed
from app.kit.client import ServiceUnavailable as ServiceNotAnswering
from app.kit.instrumentation import REQUEST_ID

_YEAR_SECONDS: Final = 365 * 24 * 3600
_MOST_OTHERS, _LONGEST_OTHERS = 4, 400
"""Sessions of other accounts in their cookie, and its characters."""
_PATHS_WITHOUT_TENANT: Final = ("/static/", "/_gallery")
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def install(app: Flask) -> None:
    """Register the hooks."""
    app.before_request(begin_request)
    app.before_request(refuse_shed)
    app.after_request(finish_response)


def refuse_shed() -> None:
    """Refuse a request that the hash queue shed. Raises TooManyRequests or ServiceUnavailable."""
    shed: Shed | None = current_visit().environ.get(SHED)
    if shed is not None:
        error = TooManyRequests if shed.unavailable_status == TooManyRequests.code else ServiceUnavailable
        raise error(retry_after=shed.retry_after_seconds)


def begin_request() -> None:
    """Set up the visit: tenant, cookies, interaction, language.

    Raises:
        UnknownTenant: no tenant has this host.
        ServiceUnavailable: the identity service does not answer.
    """
    shared = services()
    visit = set_current_visit(new_visit(shared, request_ctx.request.environ))
    if visit.is_post:
        visit.posted_uid = visit.form.get(SHOWN_UID, "")[:64]
    elif visit.method == "GET":
        choose_language_of_query(visit)
    try:
        if not visit.path.startswith(_PATHS_WITHOUT_TENANT):
            visit.tenant = shared.tenancy.by_host(visit.host, api)
            if interaction_id := requested_interaction_id():
                visit.interaction = shared.interactions.read(visit.cookies, visit.tenant.name, interaction_id)
                if needs_reopening(visit):
                    reopen(visit, interaction_id)
    finally:  # the error page needs a language too
        visit.choose_language()


def choose_language_of_query(visit: Visit) -> None:
    """Take the language that the address names; it is used with all others by `Visit.choose_language`."""
    named = visit.query.get(LANGUAGE_PARAMETER) or visit.query.get("language", "")
    visit.chosen_language = lookup(named, LANGUAGES) or ""


def new_visit(shared: Services, environ: WSGIEnvironment) -> Visit:
    """Return the visit of a request, without a tenant yet."""
    cookies: dict[str, str] = parse_cookie(environ.get("HTTP_COOKIE"), _first_of_each)  # type: ignore[arg-type]  # werkzeug calls it only
    return Visit(
        host=get_host(environ).lower(),
        scheme=environ["wsgi.url_scheme"],
        address=environ.get("REMOTE_ADDR") or "",
        is_post=environ["REQUEST_METHOD"] == "POST",
        agent=environ.get("HTTP_USER_AGENT", ""),
        accept_language=environ.get("HTTP_ACCEPT_LANGUAGE", ""),
        cookies=cookies,
        environ=environ,
        request_id=environ.get(REQUEST_ID, ""),
        session=cookies.get(shared.session_cookie, ""),
        others=_others(cookies.get(shared.other_sessions_cookie, "")),
        trusted=cookies.get(shared.trusted_cookie, "")[:64],
        binding=cookies.get(shared.browser_cookie, "")[:64],
        device_passkey=cookies.get(shared.passkey_cookie, "")[:64],
        cookie_language=cookies.get(shared.language_cookie, ""),
    )


def _first_of_each(pairs: Sequence[tuple[str, str]] = ()) -> dict[str, str]:
    """Return the first cookie of each name, which is the one with the longest path (RFC 6265 section 5.4)."""
    return dict(reversed(pairs))


def _others(text: str) -> tuple[str, ...]:
    """Return the tokens of the cookie with the sessions of other accounts."""
    return tuple(one for one in text[:_LONGEST_OTHERS].split(OTHERS_SEPARATOR) if one)[:_MOST_OTHERS] if text else ()


def finish_response(response: Response) -> Response:
    """Set the cookies that the visit changed, and the cost header where the settings ask for it."""
    shared, visit = services(), current_visit()
    if visit.renewed:
        set_cookie(response, shared.session_cookie, visit.renewed.token, visit.renewed.lifetime_seconds)
    if visit.is_reopened and visit.interaction is not None:
        set_interaction_cookie(response, visit.interaction)
    if visit.is_binding_new and not is_sent_elsewhere(visit.environ, visit.host, is_https=shared.is_https):
        set_cookie(response, shared.browser_cookie, visit.binding, None)
    if visit.is_device_passkey_new:
        set_cookie(response, shared.passkey_cookie, visit.device_passkey, _YEAR_SECONDS)
    if visit.chosen_language:
        set_cookie(response, shared.language_cookie, visit.chosen_language, _YEAR_SECONDS)
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


def needs_reopening(visit: Visit) -> bool:
    """Return whether the interaction that a request names has no cookie, or expired."""
    return visit.interaction is None or visit.interaction.expires_at <= services().now()


def reopen(visit: Visit, interaction_id: str) -> None:
    """Take the interaction from the identity service, if this browser began it; it decides as it would have before."""
    held = visit.interaction
    if (held is None and not visit.binding) or not _ID.fullmatch(interaction_id):
        return
    visit.choose_language()
    try:
        step = api()(contract.reopen, contract.InteractionRequest(attempt=interaction_id))
    except ServiceNotAnswering as problem:
        if problem.status == ServiceUnavailable.code:
            raise
        return  # of the previous release, which reopens none
    if step.attempt != interaction_id:
        return
    lifetime_seconds = visit.tenant.sign_in_page_seconds
    opened = interaction_from_step(step, held.binding if held else visit.binding, services().now(), lifetime_seconds)
    visit.interaction = replace(held, expires_at=opened.expires_at) if held else opened
    visit.is_reopened = True
