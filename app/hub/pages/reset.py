"""Where a mailed link leads: a new password. To look at the page uses nothing up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from flask import Response, request
from flask_babel import lazy_gettext as _l
from pydantic import ValidationError
from wtforms import PasswordField
from wtforms.validators import InputRequired

from app.contract import errors as e
from app.contract import hub_recovery as contract
from app.contract.configuration import PasswordPolicy
from app.contract.hub import Next, Step
from app.contract.mailed import LinkRead
from app.hub import journey
from app.hub.cookies import set_interaction_cookie
from app.hub.forms.base import HubForm
from app.hub.forms.password_rules import Rule, problem_of, rules_of, sample_refusals
from app.hub.interaction import interaction_from_step
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.parts import mailed_link
from app.hub.services import api, services
from app.hub.visit import current_visit
from app.kit.errors import ApiError

ADDRESS: Final = "/reset-password"


class ResetForm(HubForm):
    """The new password; once, because it can be shown."""

    password = PasswordField(_l("New password"), [InputRequired(_l("Enter a new password."))])


class Reason(StrEnum):
    """Why a new password is asked for."""

    FORGOTTEN = ""
    CODE = "code"
    EXPIRED = "expired"


@dataclass(frozen=True)
class ResetPage(Page):
    """A new password."""

    template = "pages/reset.html"
    scripts = (*Page.scripts, "reveal", "rules")
    query = {**Page.query, **mailed_link.QUERY}

    form: ResetForm
    token: str
    account: str
    rules: tuple[Rule, ...] = ()
    reason: Reason = Reason.FORGOTTEN
    is_too_many: bool = False

    @property
    def notice(self) -> Notice | None:
        if self.is_too_many:
            return Notice(_l("That was a lot at once"), _l("Wait a minute, then try again."))
        return super().notice

    @property
    def address(self) -> str:
        """Where the form is sent: this page's own address, so that it can be read in another language after all."""
        return mailed_link.form_address(ADDRESS, self.token)

    @classmethod
    def samples(cls) -> Mapping[str, ResetPage]:
        policy = PasswordPolicy(breached="change")
        fresh = cls(ResetForm(), "a-token", "ada@example.com", rules_of(PasswordPolicy()))
        refused = {}
        for name, refusal in sample_refusals().items():
            form = ResetForm()
            form.add_error("password", problem_of(refusal))
            refused[name] = replace(fresh, form=form, rules=rules_of(policy, refusal=refusal))
        return {
            "fresh": fresh,
            "expired": replace(fresh, reason=Reason.EXPIRED),
            "every rule": replace(
                fresh,
                rules=rules_of(
                    PasswordPolicy(
                        max_length=20, require_lowercase=True, require_uppercase=True, history=1, breached="change"
                    )
                ),
            ),
            "too many": replace(fresh, is_too_many=True),
            **refused,
        }


class RenewForm(HubForm):
    """Nothing but the click."""


class LinkState(StrEnum):
    """Why a link leads no further."""

    USED = "used"
    EXPIRED = "expired"
    UNKNOWN = "unknown"
    BLOCKED = "blocked"


@dataclass(frozen=True)
class ResetLinkPage(Page):
    """The link leads no further; a new one is a click away."""

    template = "pages/reset_link.html"
    query = {**Page.query, **mailed_link.QUERY}

    form: RenewForm
    state: LinkState
    token: str = ""
    relying_party: str = ""

    @property
    def address(self) -> str:
        return mailed_link.form_address(ADDRESS, self.token)

    @classmethod
    def samples(cls) -> Mapping[str, ResetLinkPage]:
        return {state.value: cls(RenewForm(), state, "a-token") for state in LinkState}


@pages.get(ADDRESS)
def show_reset() -> Response:
    token = mailed_link.link_token()
    if not token:
        return journey.redirect_to("/forgot-password")
    return _drawn(token, ResetForm(), 200)


@pages.post(ADDRESS)
def submit_reset() -> Response:
    token = mailed_link.link_token()
    if request.form.get("do") == "renew":
        return _renew(token)
    form, interaction = ResetForm(), current_visit().interaction
    if not form.validate():
        return _drawn(token, form, form.error_status)
    try:
        asked = contract.NewPassword(
            token=token, attempt=interaction.id if interaction else None, password=form.password.data or ""
        )
    except ValidationError:
        form.add_error("password", _l("This is too long."))
        return _drawn(token, form, 422)
    try:
        step = api()(contract.reset, asked)
    except ApiError as refusal:
        return _refused(token, form, refusal)
    return finished(step)


def finished(step: Next) -> Response:
    """Go on signed in, or to the sign-in, which knows the name and says that the password is new."""
    if step.step is not Step.LOGIN:
        return journey.follow(step)
    response = journey.follow(step, reset="done")
    shared, visit = services(), current_visit()
    kept = interaction_from_step(step, step.binding, shared.now()) if step.binding else visit.interaction
    if kept is not None:
        set_interaction_cookie(response, replace(kept, hint=(step.login_hint or "")[:120]))
    return response


def _drawn(
    token: str, form: ResetForm, status: int, *, is_too_many: bool = False, refusal: ApiError | None = None
) -> Response:
    link = api()(contract.read_reset, mailed_link.link_read(token))
    if link.state != "open":
        return _over(LinkState(link.state), token, 200 if request.method in ("GET", "HEAD") else 403)
    rules = rules_of(current_visit().tenant.password_policy, refusal=refusal)
    reason = Reason(link.reason) if link.reason in set(Reason) else Reason.FORGOTTEN
    return ResetPage(form, token, link.label, rules, reason, is_too_many).render(status)


def _over(state: LinkState, token: str, status: int, form: RenewForm | None = None) -> Response:
    interaction = current_visit().interaction
    page = ResetLinkPage(
        form or RenewForm(formdata=None), state, token, interaction.relying_party if interaction else ""
    )
    return page.render(status)


def _refused(token: str, form: ResetForm, refusal: ApiError) -> Response:
    if (sentence := problem_of(refusal)) is not None:
        form.add_error("password", sentence)
        return _drawn(token, form, 422, refusal=refusal)
    if isinstance(refusal, e.TooManyRequests):
        response = _drawn(token, form, 429, is_too_many=True)
        response.headers["Retry-After"] = str(refusal.retry_after_seconds or 60)
        return response
    states: dict[type[ApiError], LinkState] = {
        e.UsedLink: LinkState.USED,
        e.ExpiredLink: LinkState.EXPIRED,
        e.AccountBlocked: LinkState.BLOCKED,
    }
    state = next((state for kind, state in states.items() if isinstance(refusal, kind)), LinkState.UNKNOWN)
    return _over(state, token, refusal.status)


def _renew(token: str) -> Response:
    form, interaction = RenewForm(), current_visit().interaction
    if not form.validate():
        link = api()(contract.read_reset, LinkRead(token=token))
        state = LinkState(link.state) if link.state in set(LinkState) else LinkState.EXPIRED
        return _over(state, token, form.error_status, form)
    try:
        step = api()(
            contract.renew_reset, contract.LinkRequest(token=token, attempt=interaction.id if interaction else None)
        )
    except e.UnknownLink:
        return _over(LinkState.UNKNOWN, "", 403)
    return journey.follow(step)
