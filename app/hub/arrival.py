"""What happens before a view sees a visit, and after: host, cookies, attempt, language, and the answer's own cookies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flask import Flask, Response, current_app, request

from app.hub import locale, visit
from app.hub.attempt import KEPT_SECONDS, Attempt, AttemptCookies
from app.hub.door import Door
from app.hub.keys import Seal
from app.hub.locale import LANGUAGES
from app.hub.page import LANGUAGE_PARAMETER
from app.hub.tenancy import Tenancy
from app.hub.visit import Visit
from app.kit.client import Client, ResponseHeaders
from app.kit.clock import Clock
from app.settings import Settings

COST_HEADER: Final = "X-Gatehouse-Cost"
RETURN_FROM_PROVIDER: Final = "/socialauth/validate.sauth"
"""Where other providers send browsers back to, with a state that begins with the attempt (interface federation.md section 12)."""
_YEAR_SECONDS: Final = 365 * 24 * 3600
_WITHOUT_TENANT: Final = ("/static/", "/_gallery")


@dataclass(frozen=True)
class Workings:
    """What all visits of this process share."""

    settings: Settings
    clock: Clock
    door: Door
    tenancy: Tenancy
    seal: Seal

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
    def attempts(self) -> AttemptCookies:
        return AttemptCookies(self.seal, self.cookie_prefix)

    def now(self) -> int:
        """Seconds since 1970."""
        return int(self.clock.now().timestamp())


def workings() -> Workings:
    """Return what all visits of this process share."""
    shared: Workings = current_app.extensions["gatehouse"]
    return shared


def api() -> Client:
    """Return the client of the identity service for this visit."""
    shared, here = workings(), visit.current()

    def on_response(headers: ResponseHeaders) -> None:
        shared.tenancy.on_response(here.host, headers)
        if cost := headers.get(COST_HEADER):
            here.costs.append(cost)

    return shared.door.for_visit(here.signed(), on_response)


def install(app: Flask) -> None:
    """Receive every visit, and see it off."""
    app.before_request(receive)
    app.after_request(see_off)


def receive() -> None:
    """Find out who is visited, from where, and in which attempt.

    Raises:
        UnknownTenant: nobody lives at this host.
        ServiceUnavailable: the identity service does not answer.
    """
    shared, cookies = workings(), request.cookies
    here = visit.begin(
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
    here.chosen_language = chosen if request.method == "GET" else ""
    try:
        if not request.path.startswith(_WITHOUT_TENANT):
            here.tenant = shared.tenancy.at(here.host, api)
            if attempt_id := named_attempt():
                here.attempt = shared.attempts.read(cookies, here.tenant.name, attempt_id)
    finally:  # the page that says what went wrong speaks a language too
        here.choose_language()


def named_attempt() -> str:
    """The attempt that the address or the form names; whether this browser began it is another question."""
    if request.path == RETURN_FROM_PROVIDER:
        return request.args.get("state", "").partition(".")[0]
    return request.args.get("attempt") or (request.form.get("attempt", "") if request.method == "POST" else "")


def see_off(response: Response) -> Response:
    """Give the browser what it is to keep, and say what the visit cost where that is asked for."""
    shared, here = workings(), visit.current()
    if here.renewed:
        keep(response, shared.session_cookie, here.renewed.token, here.renewed.lifetime_seconds)
    if here.is_binding_new:
        keep(response, shared.browser_cookie, here.binding, None)
    if here.chosen_language in LANGUAGES:
        keep(response, shared.cookie_prefix + locale.COOKIE, here.chosen_language, _YEAR_SECONDS)
        if here.attempt:
            keep_attempt(response, here.attempt.clicked(here.chosen_language))
    if shared.settings.shows_cost:
        response.headers[COST_HEADER] = _added(here.costs)
    return response


def keep(response: Response, name: str, value: str, seconds: int | None) -> None:
    """Let the browser keep a cookie on this host; until it closes where no time is given."""
    is_secure = workings().settings.public_scheme == "https"
    response.set_cookie(name, value, max_age=seconds, path="/", secure=is_secure, httponly=True, samesite="Lax")


def drop(response: Response, name: str) -> None:
    """Let the browser forget a cookie."""
    is_secure = workings().settings.public_scheme == "https"
    response.delete_cookie(name, path="/", secure=is_secure, httponly=True, samesite="Lax")


def keep_attempt(response: Response, attempt: Attempt) -> None:
    """Let the browser keep an attempt; the oldest of too many gives way, all but who had asked in it."""
    attempts, tenant = workings().attempts, visit.current().tenant.name
    name, value = attempts.write(attempt, tenant)
    keep(response, name, value, KEPT_SECONDS)
    gone = attempts.too_many(request.cookies, tenant, name)
    for old in gone:
        drop(response, old)
    if gone:
        keep(response, attempts.asked_cookie, attempts.remember(request.cookies, tenant, gone), KEPT_SECONDS)


def keep_who_asked(response: Response, attempt_id: str, name: str, home: str) -> None:
    """Let the browser know which application had asked in an attempt that another browser began."""
    attempts, tenant = workings().attempts, visit.current().tenant.name
    told: dict[str, Attempt | None] = {attempts.name_of(attempt_id): Attempt(attempt_id, "", name, home)}
    keep(response, attempts.asked_cookie, attempts.remember(request.cookies, tenant, told), KEPT_SECONDS)


def who_asked() -> tuple[str, str]:
    """Return name and home of the application that had asked in the attempt that the address names, if it is known still."""
    return workings().attempts.who_asked(request.cookies, visit.current().tenant.name, named_attempt())


def _added(costs: list[str]) -> str:
    """Add up what each call said, as `api=2; sql=5; ...`."""
    total = {"api": 0, "sql": 0, "commits": 0, "hashes": 0, "signatures": 0}
    for cost in costs:
        for part in cost.split(";"):
            name, _, count = part.strip().partition("=")
            if count.isdigit():
                total[name] = total.get(name, 0) + int(count)
    return "; ".join(f"{name}={count}" for name, count in total.items())
