"""Password reset by a mailed link or a code. A GET does not use the link up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from flask import Response
from pydantic import ValidationError
from wtforms import PasswordField
from wtforms.validators import InputRequired

from app.contract import errors
from app.contract.page_models import LinkLookup, LinkRequest
from app.contract.recovery import recovery_pages
from app.contract.steps import LoginStep, ProfileStep, StepResponse
from app.contract.tenants.settings import PasswordPolicy
from app.hub import journey
from app.hub.components import mailed_link
from app.hub.components.sign_in_refusals import RefusalReason, sign_in_notice, too_many_notice
from app.hub.forms.new_password import NewPasswordForm, NewPasswordPage, rules_in_force
from app.hub.forms.password_rules import problem_of, rules_of, sample_refusals
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import pages
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Page
from app.hub.web.cookies import set_interaction_cookie
from app.hub.web.errors import shown_for
from app.hub.web.interaction import interaction_from_step
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.short_links import link_url
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/reset-password"


class ResetForm(NewPasswordForm):
    """The new password; typed once because it can be revealed."""

    password_field = "password"
    password = PasswordField(_l("New password"), [InputRequired(_l("Enter a new password."))])
    number = mailed_link.number_field()
    refusals = {errors.WrongMailCode: ("number", mailed_link.WRONG_NUMBER)}


class ResetReason(StrEnum):
    """Why a new password is asked for."""

    FORGOTTEN = ""
    CODE = "code"
    EXPIRED = "expired"


@dataclass(frozen=True)
class ResetPage(NewPasswordPage):
    """Asks for a new password after a mailed link or a code."""

    template = "pages/recovery/reset.html"
    query = {**Page.query, **mailed_link.QUERY}
    refusals = {errors.TooManyRequests: too_many_notice}

    form: ResetForm
    token: str = ""
    reason: ResetReason = ResetReason.FORGOTTEN
    is_awaited: bool = False
    """Whether a page in another browser waits for the link, and shows a number."""

    @property
    def action(self) -> str:
        """The form's action: the link's address, so that the language links work after a post."""
        return link_url(PATH, self.token)

    @classmethod
    def samples(cls) -> Mapping[str, ResetPage]:
        fresh = cls(ResetForm(), "ada@example.com", rules_of(PasswordPolicy()), token="a-token")
        refused = {}
        for name, refusal in sample_refusals().items():
            form = ResetForm()
            form.add_refusal(refusal)
            refused[name] = replace(fresh, form=form, rules=rules_of(PasswordPolicy(), refusal=refusal))
        return {
            "fresh": fresh,
            "awaited in another browser": replace(fresh, is_awaited=True),
            "expired": replace(fresh, reason=ResetReason.EXPIRED),
            "every rule": replace(
                fresh,
                rules=rules_of(PasswordPolicy(max_length=20, require_lowercase=True, require_uppercase=True)),
            ),
            "too many": replace(fresh, page_notice=sign_in_notice(RefusalReason.TOO_MANY, 40)),
            **refused,
        }


class RenewForm(HubForm):
    """A button."""


class ResetLinkState(StrEnum):
    """Why a link is refused."""

    USED = "used"
    EXPIRED = "expired"
    UNKNOWN = "unknown"
    BLOCKED = "blocked"


_LINK_STATES: Final[dict[type[ApiError], ResetLinkState]] = {
    errors.UsedLink: ResetLinkState.USED,
    errors.ExpiredLink: ResetLinkState.EXPIRED,
    errors.AccountBlocked: ResetLinkState.BLOCKED,
}


@dataclass(frozen=True)
class ResetLinkPage(mailed_link.LinkPage):
    """The link is refused; offers a new one."""

    template = "pages/recovery/reset_link.html"
    path = PATH

    form: RenewForm
    state: ResetLinkState
    relying_party: str = ""

    @classmethod
    def samples(cls) -> Mapping[str, ResetLinkPage]:
        return {state.value: cls(RenewForm(), state, token="a-token") for state in ResetLinkState}


@pages.get(PATH)
def show_reset() -> Response:
    token = mailed_link.link_token()
    if not token:
        return redirect_to("/forgot-password")
    return _render_form(token, ResetForm())


@pages.post(PATH)
def submit_reset() -> Response:
    visit = current_visit()
    token = mailed_link.link_token()
    if visit.form.get("do") == "renew":
        return _renew(token)
    form = ResetForm()
    if not form.validate():
        return _render_form(token, form)
    try:
        request_body = recovery_pages.ResetPasswordRequest(
            token=token,
            interaction_id=visit.interaction_id,
            password=form.password.data or "",
            number=(form.number.data or "").strip()[:20],
        )
    except ValidationError as refusal:
        form.add_contract_errors(refusal)
        return _render_form(token, form)
    try:
        response = api()(recovery_pages.reset, request_body)
    except ApiError as refusal:
        return _refused(token, form, refusal)
    return finish(response)


def finish(response: StepResponse) -> Response:
    """Continue signed in, or on the login page with the identifier filled in and a notice."""
    if not isinstance(response.step, LoginStep):
        return journey.follow(response, **({"changed": "password"} if isinstance(response.step, ProfileStep) else {}))
    followed = journey.follow(response, reset="done")
    shared, visit = services(), current_visit()
    interaction = (
        interaction_from_step(response, response.binding, shared.now(), visit.tenant.sign_in_page_seconds)
        if response.binding
        else visit.interaction
    )
    if interaction is not None:
        set_interaction_cookie(followed, replace(interaction, hint=(response.login_hint or "")[:120]))
    return followed


def _render_form(token: str, form: ResetForm, refusal: ApiError | None = None) -> Response:
    link = api()(recovery_pages.read_reset, mailed_link.link_read(token))
    if link.state != "open":
        return _render_refused_link(ResetLinkState(link.state), token, 403 if current_visit().is_post else 200)
    reason = ResetReason(link.reason) if link.reason in set(ResetReason) else ResetReason.FORGOTTEN
    rules = rules_in_force(link.password_policy, refusal)
    page = ResetPage(form, link.label, rules, token, reason, link.is_awaited)
    return page.render_refusal(refusal) if current_visit().is_post else page.render()


def _render_refused_link(state: ResetLinkState, token: str, status: int, form: RenewForm | None = None) -> Response:
    page = ResetLinkPage(
        form or RenewForm(formdata=None), state, token=token, relying_party=current_visit().relying_party
    )
    return page.render(status)


def _refused(token: str, form: ResetForm, refusal: ApiError) -> Response:
    is_of_form = problem_of(refusal) is not None or isinstance(refusal, errors.WrongMailCode | errors.TooManyRequests)
    if is_of_form:
        return _render_form(token, form, refusal)
    return _render_refused_link(shown_for(refusal, _LINK_STATES) or ResetLinkState.UNKNOWN, token, refusal.status)


def _renew(token: str) -> Response:
    form = RenewForm()
    if not form.validate():
        link = api()(recovery_pages.read_reset, LinkLookup(token=token))
        state = ResetLinkState(link.state) if link.state in set(ResetLinkState) else ResetLinkState.EXPIRED
        return _render_refused_link(state, token, form.error_status, form)
    try:
        response = api()(
            recovery_pages.renew_reset, LinkRequest(token=token, interaction_id=current_visit().interaction_id)
        )
    except errors.UnknownLink:
        return _render_refused_link(ResetLinkState.UNKNOWN, "", 403)
    return journey.follow(response)
