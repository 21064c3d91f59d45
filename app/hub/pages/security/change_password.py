"""Change the password by the current one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Response
from wtforms import PasswordField
from wtforms.validators import InputRequired

from app.contract import errors
from app.contract.recovery import recovery_pages
from app.contract.tenants.settings import PasswordPolicy
from app.hub.components.change_refusals import CHANGE_REFUSALS, elsewhere_notice
from app.hub.components.sign_in_refusals import REFUSALS, RefusalReason, sign_in_notice
from app.hub.components.signed_in_account import read_profile
from app.hub.forms.new_password import NewPasswordForm, NewPasswordPage, rules_in_force, sample_weak
from app.hub.forms.password_rules import rules_of
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH = "/change-password"


class ChangePasswordForm(NewPasswordForm):
    """The current and the new password."""

    first_fields: tuple[str, ...] = ("old_password",)
    old_password = PasswordField(_l("Current password"), [InputRequired(_l("Enter your current password."))])
    new_password = PasswordField(_l("New password"), [InputRequired(_l("Enter a new password."))])
    refusals = {
        errors.WrongCurrentPassword: ("old_password", _l("Wrong password.")),
        errors.DirectoryPasswordRefused: (
            "new_password",
            _l("Your organization doesn’t accept this password. Try another one."),
        ),
    }

    def to_request(self) -> recovery_pages.ChangePasswordRequest:
        return recovery_pages.ChangePasswordRequest(
            old_password=self.old_password.data or "", new_password=self.new_password.data or ""
        )


@dataclass(frozen=True)
class ChangePasswordPage(NewPasswordPage):
    """Asks for the current and a new password."""

    template = "pages/security/change_password.html"
    refusals = {
        **CHANGE_REFUSALS,
        **{kind: sign_in_notice(reason, 0) for kind, reason in REFUSALS.items()},
        errors.DirectoryPasswordElsewhere: elsewhere_notice,
    }

    form: ChangePasswordForm

    @classmethod
    def samples(cls) -> Mapping[str, ChangePasswordPage]:
        rules, wrong = rules_of(PasswordPolicy()), ChangePasswordForm()
        weak, broken_rules = sample_weak(ChangePasswordForm())
        wrong.add_refusal(errors.WrongCurrentPassword())
        return {
            "fresh": cls(ChangePasswordForm(), "ada@example.com", rules),
            "wrong": cls(wrong, "ada@example.com", rules),
            "weak": cls(weak, "ada@example.com", broken_rules),
            "suspended": cls(
                ChangePasswordForm(), "ada@example.com", rules, page_notice=sign_in_notice(RefusalReason.SUSPENDED, 0)
            ),
            "managed elsewhere": cls(
                ChangePasswordForm(),
                "ada@example.com",
                rules,
                page_notice=elsewhere_notice(
                    errors.DirectoryPasswordElsewhere(data={"PasswordUrl": "https://password.example.com"})
                ),
            ),
            "token": cls(ChangePasswordForm().with_token_error(), "ada@example.com", rules),
        }


@account_page(PATH)
def show_change_password() -> Response:
    return _render(ChangePasswordForm())


@pages.post(PATH)
def submit_change_password() -> Response:
    form = ChangePasswordForm()
    if not form.validate():
        return _render(form)
    try:
        result = api()(recovery_pages.change, form.to_request())
    except ApiError as refusal:
        return _render(form, refusal)
    current_visit().renew(result.session)
    return redirect_to("/security?done=password")


def _render(form: ChangePasswordForm, refusal: ApiError | None = None) -> Response:
    view = read_profile(with_password_policy=True)
    if not view.has_password:
        return redirect_to("/set-password")
    page = ChangePasswordPage(form, view.person.label, rules_in_force(view.password_policy, refusal))
    return page.render_refusal(refusal) if current_visit().is_post else page.render()
