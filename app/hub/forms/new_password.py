"""Pages that ask for a new password and list its rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

from flask import Response

from app.contract.tenants.settings import PasswordPolicy
from app.hub.forms.password_rules import Rule, problem_of, rules_of, sample_refusals
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Page
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError


class NewPasswordForm(HubForm):
    """A form with a new password."""

    password_field: ClassVar[str] = "new_password"

    @property
    def first_fields(self) -> tuple[str, ...]:
        return (self.password_field,)

    def add_refusal(self, refusal: ApiError) -> bool:
        """Add the error to the new password's field, or one of `refusals`; return whether there is one."""
        message = problem_of(refusal)
        if message is None:
            return super().add_refusal(refusal)
        self.add_error(self.password_field, message)
        return True


Form = TypeVar("Form", bound=NewPasswordForm)


@dataclass(frozen=True)
class NewPasswordPage(Page):
    """Asks for a new password."""

    scripts = (*Page.scripts, "reveal", "rules")

    form: NewPasswordForm
    account: str
    """The username for password managers."""
    rules: tuple[Rule, ...] = ()

    def render_refusal(self, refusal: ApiError | None = None) -> Response:
        """Return the page with the refusal; a password that breaks a rule is an invalid form."""
        if refusal is None or problem_of(refusal) is None:
            return super().render_refusal(refusal)
        self.form.add_refusal(refusal)
        return self.render(self.form.error_status)


def rules_in_force(policy: PasswordPolicy | None, refusal: ApiError | None = None) -> tuple[Rule, ...]:
    """Return the account's rules, or the tenant's for None, with those marked that the refused password broke."""
    return rules_of(policy or current_visit().tenant.password_policy, refusal=refusal)


def sample_weak(form: Form) -> tuple[Form, tuple[Rule, ...]]:
    """Return the form with a refused password, and the rules with those that it broke."""
    refusal = sample_refusals()["too weak"]
    form.add_refusal(refusal)
    return form, rules_of(PasswordPolicy(), refusal=refusal)
