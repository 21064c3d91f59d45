"""What happens before a view sees a visit, and after: host, cookies, attempt, language, and the answer's own cookies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flask import Flask, Response, current_app, request

from app.hub import locale
from app.hub.attempt import KEPT_SECONDS, Interaction, InteractionCookies
from app.hub.identity_client import IdentityClient
from app.hub.keys import CookieCipher
from app.hub.locale import LANGUAGES
from app.hub.page import LANGUAGE_PARAMETER
from app.hub.tenancy import Tenancy
from app.hub.visit import Visit, current_visit, set_current_visit
from app.kit.client import Client, ResponseHeaders
from app.kit.clock import Clock
from app.settings import Settings

COST_HEADER: Final = "X-Gatehouse-Cost"
RETURN_FROM_PROVIDER: Final = "/socialauth/validate.sauth"
"""Where other providers send browsers back to, with a state that begins with the attempt (interface federation.md section 12)."""
_YEAR_SECONDS: Final = 365 * 24 * 3600
_WITHOUT_TENANT: Final = ("/static/", "/_gallery")


@dataclass(frozen=True)
class Services:
    """What all visits of this process share."""

    settings: Settings
    clock: Clock
    identity_client: IdentityClient
    tenancy: Tenancy
    seal: CookieCipher

    @property
    def cookie_prefix(self) -> str:
        """Browsers hold `__Host-` cookies to this very host; they take them over https only."""
        return "__Host-" if self.settings.public_scheme == "https" else ""

    @property
    def session_cookie(self) -> str:
        return f"{self.cookie_prefix}gatehouse-session"

    @property
    def trusted_cookie(self) -> str:
        """Holds what makes this a browser that is not asked for a second factor."""
        return f"{self.cookie_prefix}gatehouse-trusted"

    @property
    def browser_cookie(self) -> str:
        """Holds the secret that ties forms without an attempt to this browser."""
        return f"{self.cookie_prefix}gatehouse-browser"

    @property
    def attempts(self) -> InteractionCookies:
        return InteractionCookies(self.seal, self.cookie_prefix)

    def now(self) -> int:
        """Seconds since 1970."""
        return int(self.clock.now().timestamp())


def services() -> Services:
    """Return what all visits of this process share."""
    shared: Services = current_app.extensions["gatehouse"]
    return shared


def api() -> Client:
    """Return the client of the identity service for this visit."""
    shared, visit = services(), current_visit()

    def on_response(headers: ResponseHeaders) -> None:
        shared.tenancy.on_response(visit.host, headers)
        if cost := headers.get(COST_HEADER):
            visit.costs.append(cost)

    return shared.identity_client.for_visit(visit.signed(), on_response)


def install(app: Flask) -> None:
    """Receive every visit, and see it off."""
    app.before_request(begin_request)
    app.after_request(finish_response)


def begin_request() -> None:
    """Find out who is visited, from where, and in which attempt.

    Raises:
        UnknownTenant: nobody lives at this host.
        ServiceUnavailable: the identity service does not answer.
    """
    shared, cookies = services(), request.cookies
    visit = set_current_visit(
        Visit(
            host=request.host.lower(),
            scheme=request.scheme,
            address=request.remote_addr or "",
            session=cookies.get(shared.session_cookie, ""),
            trusted=cookies.get(shared.trusted_cookie, "")[:64],
            binding=cookies.get(shared.browser_cookie, "")[:64],
            cookie_language=cookies.get(shared.cookie_prefix + locale.COOKIE, ""),
        )
    )
    chosen = request.args.get(LANGUAGE_PARAMETER) or request.args.get("language", "")
    visit.chosen_language = chosen if request.method == "GET" else ""
    try:
        if not request.path.startswith(_WITHOUT_TENANT):
            visit.tenant = shared.tenancy.at(visit.host, api)
            if attempt_id := requested_interaction_id():
                visit.interaction = shared.attempts.read(cookies, visit.tenant.name, attempt_id)
    finally:  # the page that says what went wrong speaks a language too
        visit.choose_language()


def requested_interaction_id() -> str:
    """The attempt that the address or the form names; whether this browser began it is another question."""
    if request.path == RETURN_FROM_PROVIDER:
        return request.args.get("state", "").partition(".")[0]
    return request.args.get("attempt") or (request.form.get("attempt", "") if request.method == "POST" else "")


def finish_response(response: Response) -> Response:
    """Give the browser what it is to keep, and say what the visit cost where that is asked for."""
    shared, visit = services(), current_visit()
    if visit.renewed:
        set_cookie(response, shared.session_cookie, visit.renewed.token, visit.renewed.lifetime_seconds)
    if visit.is_binding_new:
        set_cookie(response, shared.browser_cookie, visit.binding, None)
    if visit.chosen_language in LANGUAGES:
        set_cookie(response, shared.cookie_prefix + locale.COOKIE, visit.chosen_language, _YEAR_SECONDS)
        if visit.interaction:
            set_interaction_cookie(response, visit.interaction.with_language(visit.chosen_language))
    if shared.settings.shows_cost:
        response.headers[COST_HEADER] = _added(visit.costs)
    return response


def set_cookie(response: Response, name: str, value: str, seconds: int | None) -> None:
    """Let the browser keep a cookie on this host; until it closes where no time is given."""
    is_secure = services().settings.public_scheme == "https"
    response.set_cookie(name, value, max_age=seconds, path="/", secure=is_secure, httponly=True, samesite="Lax")


def delete_cookie(response: Response, name: str) -> None:
    """Let the browser forget a cookie."""
    is_secure = services().settings.public_scheme == "https"
    response.delete_cookie(name, path="/", secure=is_secure, httponly=True, samesite="Lax")


def set_interaction_cookie(response: Response, attempt: Interaction) -> None:
    """Let the browser keep an attempt; the oldest of too many gives way, all but who had asked in it."""
    attempts, tenant = services().attempts, current_visit().tenant.name
    name, value = attempts.write(attempt, tenant)
    set_cookie(response, name, value, KEPT_SECONDS)
    gone = attempts.too_many(request.cookies, tenant, name)
    for old in gone:
        delete_cookie(response, old)
    if gone:
        set_cookie(response, attempts.asked_cookie, attempts.remember(request.cookies, tenant, gone), KEPT_SECONDS)


def remember_relying_party(response: Response, attempt_id: str, name: str, home: str) -> None:
    """Let the browser know which application had asked in an attempt that another browser began."""
    attempts, tenant = services().attempts, current_visit().tenant.name
    told: dict[str, Interaction | None] = {attempts.name_of(attempt_id): Interaction(attempt_id, "", name, home)}
    set_cookie(response, attempts.asked_cookie, attempts.remember(request.cookies, tenant, told), KEPT_SECONDS)


def remembered_relying_party() -> tuple[str, str]:
    """Return name and home of the application that had asked in the attempt that the address names, if it is known still."""
    return services().attempts.remembered_relying_party(
        request.cookies, current_visit().tenant.name, requested_interaction_id()
    )


def _added(costs: list[str]) -> str:
    """Add up what each call said, as `api=2; sql=5; ...`."""
    total = {"api": 0, "sql": 0, "commits": 0, "hashes": 0, "signatures": 0}
    for cost in costs:
        for part in cost.split(";"):
            name, _, count = part.strip().partition("=")
            if count.isdigit():
                total[name] = total.get(name, 0) + int(count)
    return "; ".join(f"{name}={count}" for name, count in total.items())
