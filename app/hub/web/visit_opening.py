"""Opens the visit of a request: reads its headers, then finds its tenant, interaction and language."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from wsgiref.types import WSGIEnvironment

from werkzeug.exceptions import ServiceUnavailable, TooManyRequests

from app.contract.sign_in import sign_in_pages
from app.hub.locale import LANGUAGES, lookup
from app.hub.web.cookies import OTHERS_SEPARATOR, cookies_of
from app.hub.web.interaction import interaction_from_step
from app.hub.web.services import HubServices, api, services
from app.hub.web.visit import BRAND_PARAMETER, LANGUAGE_PARAMETER, SHOWN_UID, Visit, requested_interaction_id
from app.kit.limits.queue_slot import SHED, LoadShed
from app.kit.observability.instrumentation import REQUEST_ID
from app.kit.operations.client import ServiceUnavailable as ServiceNotAnswering
from app.kit.web.host_names import requested_host

if TYPE_CHECKING:
    from app.hub.tenants.themes import Themes

_MAX_OTHERS, _MAX_OTHERS_LENGTH = 4, 400
"""Maximum number of other accounts' sessions in their cookie, and its maximum length."""
_PATHS_WITHOUT_TENANT: Final = ("/static/", "/_gallery")
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def complete_visit(visit: Visit) -> None:
    """Find the tenant, the interaction and the language of a visit.

    Raises:
        UnknownTenant: no tenant has this host.
        ServiceUnavailable: the identity service does not answer.
        RequestEntityTooLarge: the form is too large.
        TooManyRequests, ServiceUnavailable (werkzeug): the hash queue shed the request.
    """
    shared = services()
    try:
        if visit.is_post:
            visit.posted_uid = visit.form.get(SHOWN_UID, "")[:64]
        elif visit.method == "GET":
            named = visit.query.get(LANGUAGE_PARAMETER) or visit.query.get("language", "")
            visit.chosen_language = lookup(named, LANGUAGES) or ""
        if not visit.path.startswith(_PATHS_WITHOUT_TENANT):
            visit.tenant = shared.tenancy.by_host(visit.host, api)
            if interaction_id := requested_interaction_id():
                visit.interaction = shared.interactions.read(visit.cookies, visit.tenant.name, interaction_id)
                if _needs_reopening(visit):
                    _reopen(visit, interaction_id)
            if visit.tenant.themes is not None:
                _choose_brand(visit, visit.tenant.themes)
    finally:  # the error page needs a language too
        visit.choose_language()
    refuse_shed(visit)


def _choose_brand(visit: Visit, themes: Themes) -> None:
    """Take over the brand that the address names; an unknown one is as good as none."""
    named = visit.query.get(BRAND_PARAMETER) if visit.method == "GET" and visit.query_text else None
    if named is not None and (not named or themes.known_key(named)):
        visit.chosen_brand = named


def refuse_shed(visit: Visit) -> None:
    shed: LoadShed | None = visit.environ.get(SHED)
    if shed is not None:
        error = TooManyRequests if shed.unavailable_status == TooManyRequests.code else ServiceUnavailable
        raise error(retry_after=shed.retry_after_seconds)


def open_visit(shared: HubServices, environ: WSGIEnvironment) -> Visit:
    """Return the visit of a request from its headers, without a tenant yet."""
    cookies = cookies_of(environ)
    return Visit(
        host=requested_host(environ).lower(),
        scheme=environ["wsgi.url_scheme"],
        address=environ.get("REMOTE_ADDR") or "",
        is_post=environ["REQUEST_METHOD"] == "POST",
        agent=environ.get("HTTP_USER_AGENT", ""),
        accept_language=environ.get("HTTP_ACCEPT_LANGUAGE", ""),
        cookies=cookies,
        environ=environ,
        request_id=environ.get(REQUEST_ID, ""),
        session=cookies.get(shared.session_cookie, ""),
        others=_other_sessions(cookies.get(shared.other_sessions_cookie, "")),
        trusted=cookies.get(shared.trusted_cookie, "")[:64],
        binding=cookies.get(shared.browser_cookie, "")[:64],
        device_passkey=cookies.get(shared.passkey_cookie, "")[:64],
        cookie_language=cookies.get(shared.language_cookie, ""),
        cookie_brand=cookies.get(shared.brand_cookie, ""),
    )


def _other_sessions(text: str) -> tuple[str, ...]:
    """Return the session tokens of the browser's other accounts."""
    return (
        tuple(part for part in text[:_MAX_OTHERS_LENGTH].split(OTHERS_SEPARATOR) if part)[:_MAX_OTHERS] if text else ()
    )


def _needs_reopening(visit: Visit) -> bool:
    """Return whether the interaction that a request names has no cookie, or expired."""
    return visit.interaction is None or visit.interaction.expires_at <= services().now()


def _reopen(visit: Visit, interaction_id: str) -> None:
    """Restore the interaction from the identity service if this browser began it."""
    stored = visit.interaction
    if (stored is None and not visit.binding) or not _ID.fullmatch(interaction_id):
        return
    visit.choose_language()
    try:
        response = api()(sign_in_pages.reopen, sign_in_pages.InteractionRequest(interaction_id=interaction_id))
    except ServiceNotAnswering as problem:
        if problem.status == ServiceUnavailable.code:
            raise
        return  # of the previous release, which reopens none
    if response.interaction_id != interaction_id:
        return
    lifetime_seconds = visit.tenant.sign_in_page_seconds
    opened = interaction_from_step(
        response, stored.binding if stored else visit.binding, services().now(), lifetime_seconds
    )
    visit.interaction = replace(stored, expires_at=opened.expires_at) if stored else opened
    visit.is_reopened = True
