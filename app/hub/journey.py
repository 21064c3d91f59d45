"""The next page of an interaction: one table from the step that the identity service names to an address or response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final
from urllib.parse import urlencode

from flask import Response

from app.contract.hub import InteractionRequest, Next, Step, resume
from app.hub.cookies import (
    delete_cookie,
    remember_application,
    remember_relying_party,
    remembered_relying_party,
    set_cookie,
    set_interaction_cookie,
    set_other_sessions,
    set_session,
    set_state_cookie,
)
from app.hub.interaction import Interaction, interaction_from_step
from app.hub.parts.error_pages import CookiesBlockedPage, ErrorPage, RequestError, StartAgainPage
from app.hub.parts.form_post import FormPostPage, ReturnToAppPage, opens_app
from app.hub.parts.sign_in_methods import complete_method
from app.hub.parts.signed_out import SignedOutPage
from app.hub.safety import is_sent_elsewhere
from app.hub.services import api, services
from app.hub.short_links import link_address
from app.hub.visit import Visit, current_visit, own_address, requested_interaction_id
from app.hub.web.responses import redirect

PAGES: Final = {
    Step.LOGIN: "/login",
    Step.REGISTER: "/register",
    Step.SECOND_FACTOR: "/second-factor",
    Step.PASSKEY_OFFER: "/passkeys/offer",
    Step.BACKUP_CODES: "/backup-codes",
    Step.QR_CODE: "/sign-in/phone",
    Step.APPROVE_SIGN_IN: "/sign-in/phone/approve",
    Step.ELSEWHERE: "/sign-in/elsewhere",
    Step.SELECT_ACCOUNT: "/choose-account",
    Step.SELECT_ORGANIZATION: "/select-organization",
    Step.CONSENT: "/consent",
    Step.DEVICE_CODE: "/device",
    Step.DEVICE: "/device/confirm",
    Step.DEVICE_DONE: "/device/done",
    Step.PROFILE: "/profile",
    Step.INVITATION: "/invitation",
    Step.PRIVACY_POLICY: "/privacy-policy",
    Step.CONSENT_FORMS: "/consent-forms",
    Step.PIN: "/set-pin",
    Step.CONFIRM: "/confirm",
    Step.MISSING_FIELDS: "/missing-fields",
    Step.CHECK_MAIL: "/verify",
    Step.FORGOT: "/forgot-password",
    Step.RESET_SENT: "/forgot-password/sent",
    Step.PIN_SENT: "/forgot-pin/sent",
    Step.SIGN_IN_SENT: "/sign-in/sent",
    Step.NEW_PASSWORD: "/reset-password",
    Step.NEW_PIN: "/reset-pin",
    Step.EMAIL_CONFIRMED: "/verify",
}
"""Addresses of the steps that have a page."""


_COOKIES: Final = "cookies"
_ASKED: Final = "asked"
"""The parameter, and its value, of an address to which a browser without cookies is redirected once, to find out whether it blocks them."""
_MAX_ID_LENGTH: Final = 64
WITH_PROVIDER: Final = "/sign-in/with"
"""The address that redirects to an identity provider."""


def follow(step: Next, **parameters: str) -> Response:
    """Return the response that leads to a step, with its cookies; `parameters` go into the page's address."""
    address = PAGES.get(step.step)
    if step.connection:
        address, parameters = WITH_PROVIDER, {**parameters, "provider": step.connection}
    if address and step.step in (Step.NEW_PASSWORD, Step.NEW_PIN):
        address = link_address(address, step.address or "")
    if address and step.frames:
        response = _load_frames(step, f"{address}{_query(step, parameters)}")
    else:
        response = redirect_to(f"{address}{_query(step, parameters)}") if address else _RESPONSES[step.step](step)
    set_cookies(response, step)
    return response


def follow_home(step: Next) -> Response:
    """Return the response for a waiting page; the application's home where another tab finished its sign-in."""
    interaction = current_visit().interaction
    if step.step is Step.PROFILE and not step.attempt and not step.session and interaction and interaction.home:
        return redirect_to(interaction.home)
    return follow(step)


def redirect_to(address: str) -> Response:
    """Redirect with 302; after a POST with 303, so that the browser does not post the form again (RFC 9110 §15.4.4)."""
    return redirect(address, 303 if current_visit().is_post else 302)


def _query(step: Next, parameters: dict[str, str]) -> str:
    if step.step is Step.PROFILE:
        if step.problem == "return_url":
            return "?landing=refused"  # hosted-pages.md §8
        return "?changed=password" if parameters.get("changed") == "password" else ""
    if step.step is Step.LOGIN and step.problem:
        parameters = {"needs": step.problem, **parameters}
    if step.step is Step.BACKUP_CODES and step.problem:
        parameters = {"state": step.problem, **parameters}
    if step.step is Step.REGISTER and step.problem:
        parameters = {"with": step.problem, **parameters}
    if step.step in (Step.ELSEWHERE, Step.APPROVE_SIGN_IN) and step.problem:
        parameters = {"said": step.problem, **parameters}
    if step.step is Step.EMAIL_CONFIRMED:
        parameters = {"confirmed": step.problem or "now", **parameters}
    if step.step is Step.DEVICE_DONE and step.problem:
        parameters = {"state": step.problem, **parameters}
    parameters = {**({"attempt": step.attempt} if step.attempt else {}), **parameters}
    return f"?{urlencode(parameters)}" if parameters else ""


def set_cookies(response: Response, step: Next) -> None:
    """Set the cookies of a step."""
    shared, visit = services(), current_visit()
    visit.adopt_binding(step.binding)
    application = step.relying_party.name if step.relying_party else ""
    if visit.interaction and visit.interaction.home and step.step in (Step.REDIRECT, Step.FORM_POST):
        remember_application(response, visit.interaction.relying_party, visit.interaction.home)
    if step.session:
        complete_method(response)
        set_session(response, step.session, step.browser_state)
        if shared.identifier_cookie in visit.cookies:
            delete_cookie(response, shared.identifier_cookie)
    elif step.ends_session:
        set_session(response, None, step.browser_state)
    elif visit.tenant.has_session_management and step.browser_state:
        set_state_cookie(response, step.browser_state)
    if step.other_sessions is not None:
        set_other_sessions(response, step.other_sessions)
    if step.trusted:
        set_cookie(response, shared.trusted_cookie, step.trusted.token, step.trusted.lifetime_seconds)
    if step.step is Step.EMAIL_CONFIRMED and step.relying_party and step.attempt and not visit.interaction:
        remember_relying_party(response, step.attempt, application, step.relying_party.home or "")
    elif (interaction := _changed_interaction(step, visit, shared.now())) is not None:
        set_interaction_cookie(response, interaction)


def _changed_interaction(step: Next, visit: Visit, now: int) -> Interaction | None:
    """Return the interaction that a step begins, or whose pages show more after it; None if the cookie stays as it is."""
    held, lifetime_seconds = visit.interaction, visit.tenant.sign_in_page_seconds
    if step.attempt and step.binding:
        begun = interaction_from_step(step, step.binding, now, lifetime_seconds)
        return begun.with_method_limit(step.method_limit) if step.method_limit else begun
    if held is None or step.attempt != held.id:
        return None
    changed = held.with_organization(step.organization)
    if step.method_limit is not None:
        changed = changed.with_method_limit(step.method_limit)
    elif step.relying_party and step.relying_party.name and not held.relying_party:
        changed = replace(
            interaction_from_step(step, held.binding, now, lifetime_seconds),
            expires_at=held.expires_at,
            organization=changed.organization,
            organization_logo=changed.organization_logo,
            organization_colour=changed.organization_colour,
        )
    return changed if changed != held else None


def _redirect(step: Next) -> Response:
    if step.frames:
        return _signed_out(step)
    if opens_app(step.address):
        name = step.relying_party.name if step.relying_party else current_visit().relying_party
        return ReturnToAppPage(step.address or "", name).render()
    return redirect_to(step.address or PAGES[Step.PROFILE])


def _form_post(step: Next) -> Response:
    name = step.relying_party.name if step.relying_party else ""
    return FormPostPage(step.address or "", tuple(step.fields.items()), name).render()


def _signed_out(step: Next) -> Response:
    application = step.relying_party
    name, home = (application.name, application.home or "") if application else ("", "")
    accounts = tuple(account.label for account in step.accounts)
    current_visit().forget_account()
    return SignedOutPage(name, home, tuple(step.frames), step.address or "", accounts).render()


def _load_frames(step: Next, address: str) -> Response:
    """Load the frames of a session that ended, then continue at the step's page."""
    return SignedOutPage(frames=tuple(step.frames), onward=address).render()


def _refused(step: Next) -> Response:
    application, visit = step.relying_party, current_visit()
    explanation = _REFUSED.get(step.problem or "", RequestError.BAD_REQUEST)
    back = (application.name, application.home or "") if application else ("", "")
    detail = ": ".join(text for text in (step.error or step.problem, step.error_description) if text)
    return ErrorPage(explanation, 400, visit.reference, *back, detail=detail).render(400)


class InteractionGone(Exception):
    """The requested interaction has expired, or another browser started it; answered by `start_again`."""


def require_interaction() -> Interaction:
    """Return the interaction of the visit. Raises InteractionGone if there is none."""
    interaction = current_visit().interaction
    if interaction is None:
        raise InteractionGone
    return interaction


def refuse_unknown_interaction() -> None:
    """Raise InteractionGone if the request names an interaction that this browser did not start."""
    if requested_interaction_id() and current_visit().interaction is None:
        raise InteractionGone


def refuse_expired_interaction() -> None:
    """Raise InteractionGone if the request names an interaction that this browser did not start, or that expired."""
    refuse_unknown_interaction()
    interaction = current_visit().interaction
    if interaction is not None and interaction.expires_at <= services().now():
        raise InteractionGone


def continue_signed_in() -> Response | None:
    """Return the response that continues the interaction of a browser that signed in meanwhile; None if it must sign in here."""
    visit = current_visit()
    if not visit.session or visit.interaction is None:
        return None
    step = api()(resume, InteractionRequest(attempt=visit.interaction.id))
    return None if step.step in (Step.LOGIN, Step.REGISTER) else follow(step)


def start_again(step: Next | None = None) -> Response:
    """Return the page of an interaction that is gone; it links to the application that the step or a cookie names.

    A browser without any cookie of ours is asked for one, once: it may block all.
    """
    if (without_cookies := _cookie_probe()) is not None:
        return without_cookies
    application, interaction = step.relying_party if step else None, current_visit().interaction
    if application:
        return StartAgainPage(application.name, application.home or "").render(410)
    if interaction:
        return StartAgainPage(interaction.relying_party, interaction.home).render(410)
    return StartAgainPage(*remembered_relying_party()).render(410)


def _cookie_probe() -> Response | None:
    """Return the redirect that asks for a cookie, or the page for a browser that sent none back; None if it has cookies."""
    visit = current_visit()
    if visit.has_cookies:
        return None
    interaction_id = requested_interaction_id()
    asked = {"attempt": interaction_id} if 0 < len(interaction_id) <= _MAX_ID_LENGTH else {}
    path = own_address(visit.path)
    if visit.query.get(_COOKIES) == _ASKED:
        return CookiesBlockedPage(f"{path}?{urlencode(asked)}" if asked else path).render(403)
    if is_sent_elsewhere(visit.environ, visit.host, is_https=services().is_https):  # the browser may have cookies
        return redirect(f"{path}?{urlencode(asked)}" if asked else path, 303)
    _ = visit.binding_secret  # a new one sets its cookie
    query = urlencode({**(asked if visit.is_post else visit.query), _COOKIES: _ASKED}, errors="replace")
    return redirect(f"{path}?{query}", 303 if visit.is_post else 302)


_RESPONSES: Final[dict[Step, Callable[[Next], Response]]] = {
    Step.REDIRECT: _redirect,
    Step.FORM_POST: _form_post,
    Step.SIGNED_OUT: _signed_out,
    Step.REFUSED: _refused,
    Step.START_AGAIN: start_again,
}
_REFUSED: Final = {
    "client": RequestError.UNKNOWN_APPLICATION,
    "redirect_uri": RequestError.WRONG_ADDRESS,
    "post_logout_redirect_uri": RequestError.WRONG_ADDRESS,
}
