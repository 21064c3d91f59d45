"""Reads, sets and deletes the hub's cookies, with their common attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from werkzeug.http import dump_cookie
from werkzeug.sansio.http import parse_cookie
from werkzeug.wrappers import Response

from app.contract.sessions.models import OtherSessions, Session
from app.contract.sessions.pages.sign_out_pages import CHECK_SESSION_PATH
from app.hub.web.interaction import COOKIE_LIFETIME_SECONDS, HubInteraction
from app.hub.web.services import services
from app.hub.web.visit import current_visit, requested_interaction_id
from app.kit import randomness
from app.kit.web.urls import is_web_url

_STATE_LIFETIME_SECONDS: Final = 365 * 86_400
_PLAIN: Final = re.compile(r"[A-Za-z0-9._~:-]*")
"""Matches a value that needs no quotes in a cookie (RFC 6265 section 4.1.1)."""
OTHERS_SEPARATOR: Final = "."
"""Separates the tokens of a cookie; they are URL-safe base64, which has no dot."""


def cookies_of(environ: Mapping[str, Any]) -> dict[str, str]:
    """Return the cookies that a browser sent; the first of each name, which has the longest path (RFC 6265 section 5.4)."""
    cookies: dict[str, str] = parse_cookie(environ.get("HTTP_COOKIE"), _first_of_each)  # type: ignore[arg-type]  # werkzeug calls it only
    return cookies


def _first_of_each(pairs: Sequence[tuple[str, str]] = ()) -> dict[str, str]:
    return dict(reversed(pairs))


def set_cookie(response: Response, name: str, value: str, lifetime_seconds: int | None) -> None:
    """Set a cookie of this host; without a lifetime the browser drops it when it closes.

    werkzeug's `set_cookie` takes ten times as long; it adds Expires, which no browser reads beside Max-Age (RFC 6265 section 5.3).
    """
    text = f"{name}={value}" if _PLAIN.fullmatch(value) else dump_cookie(name, value, path=None, max_size=0)
    lifetime = "" if lifetime_seconds is None else f"; Max-Age={lifetime_seconds}"
    secure = "; Secure" if services().is_https else ""
    response.headers.add("Set-Cookie", f"{text}{lifetime}{secure}; HttpOnly; Path=/; SameSite=Lax")


def delete_cookie(response: Response, name: str) -> None:
    """Delete a cookie of this host."""
    response.delete_cookie(name, path="/", secure=services().is_https, httponly=True, samesite="Lax")


def set_session(response: Response, session: Session | None, state: str | None = None) -> None:
    """Set the session cookie, or delete it for None; update the session iframe's state cookie."""
    name = services().session_cookie
    if session is not None:
        set_cookie(response, name, session.token, session.lifetime_seconds)
    else:
        delete_cookie(response, name)
    if current_visit().tenant.has_session_management:
        set_state_cookie(response, state)


def set_other_sessions(response: Response, others: OtherSessions) -> None:
    """Set the cookie with the sessions of the browser's other accounts; delete it where there are none."""
    name = services().other_sessions_cookie
    if others.tokens:
        set_cookie(response, name, OTHERS_SEPARATOR.join(others.tokens), others.lifetime_seconds)
    elif name in current_visit().cookies:
        delete_cookie(response, name)


def set_state_cookie(response: Response, state: str | None) -> None:
    """Set the state of the session iframe; without one to a random value, so that the iframe notices a sign-in or sign-out.

    The iframe's script in the frame of another site reads it, and no other page (OpenID Connect Session Management 1.0
    section 3.2). It outlives the session: a missing cookie means that the browser blocks cookies in frames.
    """
    response.set_cookie(
        services().state_cookie,
        state or randomness.token(),
        max_age=_STATE_LIFETIME_SECONDS,
        path=CHECK_SESSION_PATH,
        secure=True,
        httponly=False,
        samesite="None",
    )


def set_interaction_cookie(response: Response, interaction: HubInteraction) -> None:
    """Set the cookie of an interaction, and delete the oldest if the browser has too many.

    The relying parties of deleted interactions are remembered, so that their tabs can still link back.
    """
    interactions, visit = services().interactions, current_visit()
    tenant = visit.tenant.name
    if visit.interaction is not None and visit.interaction.id == interaction.id:
        visit.is_reopened = False
    name, value = interactions.write(interaction, tenant)
    set_cookie(response, name, value, COOKIE_LIFETIME_SECONDS)
    evicted = interactions.to_evict(visit.cookies, tenant, name)
    for old in evicted:
        delete_cookie(response, old)
    if evicted:
        remembered = interactions.remember(visit.cookies, tenant, evicted)
        set_cookie(response, interactions.relying_parties_cookie, remembered, COOKIE_LIFETIME_SECONDS)


def remember_relying_party(response: Response, interaction_id: str, name: str, home: str) -> None:
    """Remember the relying party of an interaction that another browser started."""
    interactions, visit = services().interactions, current_visit()
    added: dict[str, HubInteraction | None] = {
        interactions.name_of(interaction_id): HubInteraction(interaction_id, "", name, home)
    }
    remembered = interactions.remember(visit.cookies, visit.tenant.name, added)
    set_cookie(response, interactions.relying_parties_cookie, remembered, COOKIE_LIFETIME_SECONDS)


def remembered_relying_party() -> tuple[str, str]:
    """Return name and home of the relying party of the requested interaction; both empty if unknown."""
    visit, interaction_id = current_visit(), requested_interaction_id()
    return services().interactions.remembered_relying_party(visit.cookies, visit.tenant.name, interaction_id)


class RelyingPartyLink(NamedTuple):
    """An application and its registered home page."""

    name: str
    home: str


def remember_application(response: Response, name: str, home: str) -> None:
    """Remember the application that a sign-in leads to. The cookie is encrypted, so another site cannot plant another address."""
    value = services().cookie_cipher.encrypt([name[:80], home[:200]], _application_context())
    set_cookie(response, services().last_application_cookie, value, None)


def last_application() -> RelyingPartyLink | None:
    """Return the application that this browser signed in to last at this tenant; None if unknown or without a home page."""
    value = current_visit().cookies.get(services().last_application_cookie, "")
    content: Any = services().cookie_cipher.decrypt(value, _application_context()) if value else None
    if not isinstance(content, list) or not is_web_url(str(content[-1])):
        return None
    return RelyingPartyLink(*content)


def _application_context() -> str:
    return f"{current_visit().tenant.name} application"
