"""Where the visitor goes next: one table from the step that the identity service names to what the browser is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final
from urllib.parse import urlencode

from flask import Response, redirect, request

from app.contract.hub import Next, Step
from app.hub import visit
from app.hub.arrival import drop, keep, keep_attempt, keep_who_asked, named_attempt, who_asked, workings
from app.hub.attempt import begun
from app.hub.pages.hand_over import HandOverPage
from app.hub.pages.signed_out import SignedOutPage
from app.hub.pages.trouble import ErrorPage, RequestTrouble, StartAgainPage

PAGES: Final = {
    Step.LOGIN: "/login",
    Step.REGISTER: "/register",
    Step.SECOND_FACTOR: "/second-factor",
    Step.PASSKEY_OFFER: "/passkeys/offer",
    Step.BACKUP_CODES: "/backup-codes",
    Step.ELSEWHERE: "/sign-in/elsewhere",
    Step.CONSENT: "/consent",
    Step.PROFILE: "/profile",
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
"""Steps that are a page of their own address."""


def follow(step: Next, **said: str) -> Response:
    """Return the answer that takes the visitor to a step, whose page is told what is `said`; its cookies are in it."""
    address = PAGES.get(step.step)
    response = onward(f"{address}{_query(step, said)}") if address else _ANSWERS[step.step](step)
    _keep_what_it_gives(response, step)
    return response


def onward(address: str) -> Response:
    """Send the browser on; after a form with 303, so that it never posts the form there."""
    answer: Response = redirect(address, 303 if request.method == "POST" else 302)  # type: ignore[assignment]  # Flask's own kind
    return answer


def _query(step: Next, said: dict[str, str]) -> str:
    if step.step is Step.PROFILE:
        return "?landing=refused" if step.problem == "return_url" else ""  # hosted-pages.md §8
    if step.step is Step.LOGIN and step.problem:
        said = {"needs": step.problem, **said}
    if step.step is Step.REGISTER and step.problem:
        said = {"with": step.problem, **said}
    if step.step is Step.ELSEWHERE and step.problem:
        said = {"said": step.problem, **said}
    if step.step is Step.EMAIL_CONFIRMED:
        said = {"confirmed": step.problem or "now", **said}
    if step.step in (Step.NEW_PASSWORD, Step.NEW_PIN):
        said = {"vtoken": step.address or "", **said}
    parameters = {**({"attempt": step.attempt} if step.attempt else {}), **said}
    return f"?{urlencode(parameters)}" if parameters else ""


def _keep_what_it_gives(response: Response, step: Next) -> None:
    shared, here = workings(), visit.current()
    asking = step.relying_party.name if step.relying_party else ""
    if step.session:
        keep(response, shared.session_cookie, step.session.token, step.session.lifetime_seconds)
    elif step.ends_session:
        drop(response, shared.session_cookie)
    if step.trusted:
        keep(response, shared.trusted_cookie, step.trusted.token, step.trusted.lifetime_seconds)
    if step.step is Step.EMAIL_CONFIRMED and step.relying_party and step.attempt and not here.attempt:
        keep_who_asked(response, step.attempt, asking, step.relying_party.home or "")
    elif step.attempt and step.binding:
        keep_attempt(response, begun(step, step.binding, shared.now()))
    elif here.attempt and step.attempt == here.attempt.id and step.step in _WAITING:
        keep_attempt(response, replace(here.attempt, lives_until=shared.now() + step.attempt_lifetime_seconds))
    elif here.attempt and step.attempt == here.attempt.id and asking and not here.attempt.relying_party:
        keep_attempt(response, begun(step, here.attempt.binding, shared.now()))


def _redirect(step: Next) -> Response:
    return onward(step.address or PAGES[Step.PROFILE])


def _form_post(step: Next) -> Response:
    name = step.relying_party.name if step.relying_party else ""
    return HandOverPage(step.address or "", tuple(step.fields.items()), name).render()


def _signed_out(step: Next) -> Response:
    asking = step.relying_party
    return SignedOutPage(asking.name, asking.home or "").render() if asking else SignedOutPage().render()


def _refused(step: Next) -> Response:
    asking, here = step.relying_party, visit.current()
    explanation = _REFUSED.get(step.problem or "", RequestTrouble.BAD_REQUEST)
    back = (asking.name, asking.home or "") if asking else ("", "")
    return ErrorPage(explanation, 400, here.reference, *back, detail=step.error or step.problem or "").render(400)


def is_attempt_gone() -> bool:
    """Whether the address names an attempt that this browser does not have, or one that is over."""
    attempt = visit.current().attempt
    return attempt.lives_until <= workings().now() if attempt else bool(named_attempt())


def start_again(step: Next | None = None) -> Response:
    """Return the page of an attempt that is gone; who had asked is known from the answer or from the cookie."""
    asking, attempt = step.relying_party if step else None, visit.current().attempt
    if asking:
        return StartAgainPage(asking.name, asking.home or "").render(410)
    if attempt:
        return StartAgainPage(attempt.relying_party, attempt.home).render(410)
    return StartAgainPage(*who_asked()).render(410)


_ANSWERS: Final[dict[Step, Callable[[Next], Response]]] = {
    Step.REDIRECT: _redirect,
    Step.FORM_POST: _form_post,
    Step.SIGNED_OUT: _signed_out,
    Step.REFUSED: _refused,
    Step.START_AGAIN: start_again,
}
_WAITING: Final = (Step.CHECK_MAIL, Step.RESET_SENT, Step.PIN_SENT, Step.SIGN_IN_SENT, Step.SECOND_FACTOR)
"""Steps that give their attempt more time."""
_REFUSED: Final = {"client": RequestTrouble.UNKNOWN_APPLICATION, "redirect_uri": RequestTrouble.WRONG_ADDRESS}
