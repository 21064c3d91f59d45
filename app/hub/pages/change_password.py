"""Change the password by the current one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Response
from flask_babel import lazy_gettext as _l
from wtforms import PasswordField
from wtforms.validators import InputRequired

from app.contract import errors as e
from app.contract import hub_recovery as contract
from app.contract.configuration import PasswordPolicy
from app.hub import journey, oidc_client
from app.hub.forms.base import HubForm
from app.hub.forms.password_rules import Rule, problem_of, rules_of, sample_refusals
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.parts.account import read_profile
from app.hub.parts.sign_in_refusals import RefusalReason, reason_for, sign_in_notice
from app.hub.services import api
from app.hub.visit import current_visit
from app.kit.errors import ApiError

ADDRESS = "/change-password"


class ChangePasswordForm(HubForm):
    """The current and the new password."""

    old_password = PasswordField(_l("Current password"), [InputRequired(_l("Enter your current password."))])
    new_password = PasswordField(_l("New password"), [InputRequired(_l("Enter a new password."))])

    def to_request(self) -> contract.ChangePasswordRequest:
        return contract.ChangePasswordRequest(
            old_password=self.old_password.data or "", new_password=self.new_password.data or ""
        )


@dataclass(frozen=True)
class ChangePasswordPage(Page):
    """Asks for the current and a new password."""

    template = "pages/change_password.html"
    scripts = (*Page.scripts, "reveal", "rules")

    form: ChangePasswordForm
    account: str
    rules: tuple[Rule, ...] = ()
    refusal: RefusalReason | None = None

    @property
    def notice(self) -> Notice | None:
        return sign_in_notice(self.refusal, 0) if self.refusal else super().notice

    @classmethod
    def samples(cls) -> Mapping[str, ChangePasswordPage]:
        rules, too_weak = rules_of(PasswordPolicy()), sample_refusals()["too weak"]
        wrong, weak = ChangePasswordForm(), ChangePasswordForm()
        wrong.add_error("old_password", _WRONG)
        weak.add_error("new_password", problem_of(too_weak))
        return {
            "fresh": cls(ChangePasswordForm(), "ada@example.com", rules),
            "wrong": cls(wrong, "ada@example.com", rules),
            "weak": cls(weak, "ada@example.com", rules_of(PasswordPolicy(), refusal=too_weak)),
            "suspended": cls(ChangePasswordForm(), "ada@example.com", rules, RefusalReason.SUSPENDED),
            "token": cls(ChangePasswordForm().with_token_error(), "ada@example.com", rules),
        }


_WRONG = _l("This is not your current password.")


@pages.get(ADDRESS)
def show_change_password() -> Response:
    return _render(ChangePasswordForm(), 200)


@pages.post(ADDRESS)
def submit_change_password() -> Response:
    form = ChangePasswordForm()
    if not form.validate():
        return _render(form, form.error_status)
    try:
        result = api()(contract.change, form.to_request())
    except e.NotAuthenticated:
        return oidc_client.start_login(ADDRESS)
    except ApiError as refusal:
        return _refused(form, refusal)
    current_visit().renew(result.session)
    return journey.redirect_to("/security?done=password")


def _render(
    form: ChangePasswordForm, status: int, refusal: RefusalReason | None = None, password_error: ApiError | None = None
) -> Response:
    view = read_profile()
    if view is None:
        return oidc_client.start_login(ADDRESS)
    if not view.has_password:
        return journey.redirect_to("/set-password")
    rules = rules_of(current_visit().tenant.password_policy, refusal=password_error)
    return ChangePasswordPage(form, view.person.label, rules, refusal).render(status)


def _refused(form: ChangePasswordForm, refusal: ApiError) -> Response:
    if isinstance(refusal, e.WrongCurrentPassword):
        form.add_error("old_password", _WRONG)
        return _render(form, 401)
    if (message := problem_of(refusal)) is not None:
        form.add_error("new_password", message)
        return _render(form, 422, password_error=refusal)
    response = _render(form, refusal.status, reason_for(refusal))
    if refusal.retry_after_seconds:
        response.headers["Retry-After"] = str(refusal.retry_after_seconds)
    return response
