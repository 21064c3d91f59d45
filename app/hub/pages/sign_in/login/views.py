"""The login page, with a password, a passkey or a link to another method."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from flask import Response

from app.contract import errors
from app.contract.captcha.models import CaptchaUse, LockChallenge
from app.contract.federation.pages import connection_pages
from app.contract.sign_in import sign_in_pages
from app.contract.step_reasons import LoginReason
from app.contract.steps import LoginStep, RegisterStep, StepResponse
from app.contract.workflows.names import MAX_WORKFLOW_NAME
from app.hub import journey
from app.hub.components.captcha_link import mail_link
from app.hub.components.carried_identifier import carry_identifier, prefilled_identifier
from app.hub.components.reauthentication import Reauthentication, current_reauthentication
from app.hub.components.restore_account import offer_restore
from app.hub.components.sign_in_methods import (
    PASSKEY,
    PASSWORD,
    PATHS,
    begin_method,
    has_signed_in,
    is_of_organization,
    last_used,
    requires_connection,
)
from app.hub.components.sign_in_refusals import (
    DENIALS,
    PROVIDER_REASONS,
    RefusalReason,
    reason_for,
    wait_seconds,
)
from app.hub.pages import pages
from app.hub.pages.sign_in.login.current_page import login_page, new_login_form
from app.hub.pages.sign_in.login.form import FormStep, LoginForm, MethodChoiceForm
from app.hub.pages.sign_in.login.locked_page import HumanCheckPage
from app.hub.pages.sign_in.login.page import CONNECTS, LoginPage, step_url
from app.hub.rendering.cached_pages import cached_page
from app.hub.rendering.page import Page, with_retry_after
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit, interaction_url
from app.kit.operations.errors import ApiError

_CHOOSE: Final = "/login/choose"


@pages.get("/login")
def show_login() -> Response:
    """Render the page, or continue for a signed-in browser. Without a session this makes no API call."""
    journey.refuse_expired_interaction()
    if current_visit().interaction is None and (name := current_visit().query.get("workflow", "")[:MAX_WORKFLOW_NAME]):
        return journey.follow(api()(sign_in_pages.open_return, sign_in_pages.ReturnRequest(workflow=name)))
    interaction = current_visit().interaction
    if current_visit().session or (interaction is not None and interaction.needs_confirmation):
        response = _resume()
        if not isinstance(response.step, LoginStep | RegisterStep):
            return journey.follow(response)
        if (reauthentication := Reauthentication.of(response.step)) is not None:
            return _page_of_address(reauthentication.name, reauthentication, _denial_of(response)).render()
    if current_visit().query.get("needs") in DENIALS and current_visit().interaction:
        return _page_of_address(prefilled_identifier(), denial=_denial_of(journey.present_step())).render()
    if (opened := journey.open_for_workflow("login")) is not None:
        return opened
    hint = prefilled_identifier()
    last = last_used()
    if not hint and current_visit().query.keys() <= {"attempt"} and not is_of_organization(last):
        return first_login_page(last, has_signed_in())
    return _page_of_address(hint).render()


def _resume() -> StepResponse:
    """Return the step of a signed-in browser."""
    if current_visit().interaction is None:
        return api()(sign_in_pages.open_return, sign_in_pages.ReturnRequest())
    return journey.present_step()


def _denial_of(response: StepResponse) -> str | None:
    """Return what the workflow says that refused the last sign-in; None if the address does not ask for it, or none did."""
    is_asked = current_visit().query.get("needs") in DENIALS
    return response.step.denial if is_asked and isinstance(response.step, LoginStep) else None


def _page_of_address(
    identifier: str, reauthentication: Reauthentication | None = None, denial: str | None = None
) -> LoginPage:
    """Return the page in the state that its address names: what the last step left undone, what was reset, all methods."""
    visit, query = current_visit(), current_visit().query
    needs, reset = query.get("needs", ""), query.get("reset")
    connects = "yes" if needs == CONNECTS or (reauthentication is not None and reauthentication.connects) else ""
    is_demanded = requires_connection(is_direct=False)
    is_direct = query.get("direct") or (needs and not (is_demanded and needs in PROVIDER_REASONS))
    direct = "y" if is_direct and (visit.tenant.finds_connections or is_demanded) else ""
    data = {"identifier": identifier, "connects": connects, "direct": direct, "step": _step_of_address(identifier)}
    form = LoginForm.of(visit.tenant.identifiers, data=data)
    limit = visit.interaction.method_limit if visit.interaction and needs == LoginReason.METHOD else None
    page = login_page(form, reauthentication=reauthentication, limit=limit if reauthentication is None else None)
    return replace(
        page,
        limit=limit,
        denial=denial,
        needs=needs,
        reference=visit.failed_reference,
        is_reset=reset == "done",
        is_passkey_set=reset == "passkey",
    )


def _step_of_address(identifier: str) -> str:
    """Return the step that the address asks for. Back leads to the first one, with what was typed; an application's login hint and
    a page that the journey leads to lead to the second.
    """
    interaction, query = current_visit().interaction, current_visit().query
    is_hinted = interaction is not None and identifier == interaction.hint
    return query.get("step") or ("" if is_hinted or query.keys() & {"needs", "reset"} else FormStep.IDENTIFIER)


@cached_page("/login")
def first_login_page(last_method: str, is_returning: bool) -> Page:
    return login_page(new_login_form(), last_key=last_method, is_returning=is_returning)


@pages.post("/login")
def submit_login() -> Response:
    visit = current_visit()
    journey.refuse_unknown_interaction()
    form = LoginForm.of(visit.tenant.identifiers)
    if not form.validate():
        if not form.is_token_invalid and not form.password.data and (continued := journey.continue_signed_in()):
            return continued
        return login_page(form, reauthentication=current_reauthentication()).render(form.error_status)
    if form.is_identifier_alone:
        return carry_identifier(_after_identifier(form), form.identifier.data or "")
    try:
        if form.captcha.needs_link:
            remember = {"remember": "y"} if form.remember.data else {}
            return mail_link(CaptchaUse.UNLOCK, form.identifier.data or "", remember)
        response = api()(sign_in_pages.sign_in, form.to_request())
    except errors.AccountLeaving as refusal:
        return offer_restore(refusal)
    except ApiError as refusal:
        return _refused(form, refusal)
    followed = journey.follow(response)
    if isinstance(response.step, LoginStep) and (response.step.method_limit or response.step.connection):
        return carry_identifier(followed, form.to_request().identifier)
    return begin_method(followed, response, PASSWORD)


def _after_identifier(form: LoginForm) -> Response:
    """Redirect to the provider of the address's domain, or to the password. Nothing depends on whether an account has the address:
    without such domains this makes no API call.
    """
    if form.finds_connection:
        look_up = connection_pages.DomainLookUp(
            identifier=form.identifier.data or "", interaction_id=current_visit().interaction_id
        )
        response = api()(connection_pages.find, look_up)
        if isinstance(response.step, LoginStep) and (response.step.connection or response.step.method_limit):
            return journey.follow(response)
    address = step_url(FormStep.PASSWORD)
    return redirect_to(f"{address}&direct=y" if form.direct.data else address)


@pages.get(_CHOOSE)
def show_choice() -> Response:
    """Redirect a reload to the login page."""
    return redirect_to(interaction_url("/login"))


@pages.post(_CHOOSE)
def choose_method() -> Response:
    """Redirect to another method's page with the typed identifier. It makes no API call, so it reveals nothing about accounts."""
    journey.refuse_unknown_interaction()
    form = MethodChoiceForm()
    path, _, query = _CHOICES.get(form.to.data or "", "/login").partition("?")
    address = interaction_url(path)
    response = redirect_to(f"{address}{'&' if '?' in address else '?'}{query}" if query else address)
    return carry_identifier(response, form.identifier.data or "") if form.validate() else response


def _refused(form: LoginForm, refusal: ApiError) -> Response:
    """Render the page with the refusal: a captcha has a page of its own, a security question is asked at once, a wrong answer has its
    error at its field.
    """
    had_challenge = form.captcha.is_shown or form.shows_question
    form.prompt(LockChallenge.model_validate(refusal.data or {}), by_captcha=isinstance(refusal, _CAPTCHA_ERRORS))
    reason = reason_for(refusal)
    if had_challenge and form.add_refusal(refusal):
        reason = RefusalReason.CAPTCHA if isinstance(refusal, _CAPTCHA_ERRORS) else RefusalReason.ANSWER
    elif reason is RefusalReason.QUESTION and not form.shows_question:
        reason = RefusalReason.LOCKED
    if isinstance(refusal, _CAPTCHA_ERRORS) and form.captcha.is_shown:
        check = HumanCheckPage(form, form.encrypted_password, current_reauthentication())
        return with_retry_after(check.render(refusal.status), refusal)
    seconds = wait_seconds(refusal, services().now())
    page = login_page(form, reason, seconds, reauthentication=current_reauthentication())
    return with_retry_after(page.render(refusal.status), refusal)


_CHOICES: Final = {
    "forgot": "/forgot-password",
    "register": "/register",
    "lost": "/passkeys/lost",
    **{name: address for name, address in PATHS.items() if name != PASSKEY},
}
"""Addresses by the value of the submit button."""
_CAPTCHA_ERRORS = (errors.LockedForCaptcha, errors.WrongCaptcha)
