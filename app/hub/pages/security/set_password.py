"""Set the first password of an account without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response
from wtforms import PasswordField
from wtforms.validators import InputRequired

from app.contract import errors
from app.contract.recovery import recovery_pages
from app.contract.tenants.settings import PasswordPolicy
from app.hub.account_pages import require_reauthentication
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.signed_in_account import read_profile
from app.hub.forms.new_password import NewPasswordForm, NewPasswordPage, rules_in_force, sample_weak
from app.hub.forms.password_rules import problem_of, rules_of
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/set-password"


class SetPasswordForm(NewPasswordForm):
    """The first password."""

    new_password = PasswordField(_l("New password"), [InputRequired(_l("Enter a new password."))])

    def to_request(self) -> recovery_pages.SetPasswordRequest:
        return recovery_pages.SetPasswordRequest(password=self.new_password.data or "")


@dataclass(frozen=True)
class SetPasswordPage(NewPasswordPage):
    """Asks for the first password."""

    template = "pages/security/set_password.html"
    refusals = CHANGE_REFUSALS

    form: SetPasswordForm

    @classmethod
    def samples(cls) -> Mapping[str, SetPasswordPage]:
        rules = rules_of(PasswordPolicy())
        weak, broken_rules = sample_weak(SetPasswordForm())
        return {
            "fresh": cls(SetPasswordForm(), "ada@example.com", rules),
            "weak": cls(weak, "ada@example.com", broken_rules),
            "locked": cls(
                SetPasswordForm(), "ada@example.com", rules, page_notice=CHANGE_REFUSALS[errors.LockedForAWhile]
            ),
            "token": cls(SetPasswordForm().with_token_error(), "ada@example.com", rules),
        }


@account_page(PATH)
def show_set_password() -> Response:
    view = read_profile(with_password_policy=True)
    if view.has_password:
        return redirect_to("/change-password")
    require_reauthentication(view)
    return _page(SetPasswordForm(formdata=None), view.person.label, policy=view.password_policy).render()


@pages.post(PATH)
def submit_set_password() -> Response:
    form = SetPasswordForm()
    if not form.validate():
        return _page(form).render(form.error_status)
    try:
        result = api()(recovery_pages.set_first, form.to_request())
    except errors.WrongCurrentPassword:
        return redirect_to(PATH)  # set meanwhile, or the authentication is too old by now
    except ApiError as refusal:
        return _refused(form, refusal)
    current_visit().renew(result.session)
    return redirect_to("/security?done=password-set")


def _refused(form: SetPasswordForm, refusal: ApiError) -> Response:
    is_rule_broken = problem_of(refusal) is not None
    policy = read_profile(with_password_policy=True).password_policy if is_rule_broken else None
    return _page(form, policy=policy, refusal=refusal).render_refusal(refusal)


def _page(
    form: SetPasswordForm, account: str = "", policy: PasswordPolicy | None = None, refusal: ApiError | None = None
) -> SetPasswordPage:
    """Return the page; after a post, with the username that the form carried."""
    username = account or current_visit().form.get("username", "")[:320]
    return SetPasswordPage(form, username, rules_in_force(policy, refusal))
