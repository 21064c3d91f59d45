"""The registration form: the tenant's fields, and a captcha if the tenant requires one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from wtforms import HiddenField

from app.contract.captcha.models import CaptchaAnswer
from app.contract.registration.form import IDENTIFIERS, TERMS, FormField
from app.contract.registration.pages import RegisterRequest
from app.hub.forms.captcha import CaptchaField
from app.hub.forms.passkey import read_credential
from app.hub.forms.registration_fields import to_wire_value, widget
from app.hub.forms.tenant_forms import tenant_form
from app.hub.rendering.form import HubForm
from app.hub.web.visit import current_visit


class RegisterForm(HubForm):
    """A form with the tenant's fields, built as a subclass by `of`."""

    captcha = CaptchaField()
    credential = HiddenField()
    connection = HiddenField(name="with")
    form_fields: ClassVar[tuple[FormField, ...]] = ()
    is_by_passkey: ClassVar[bool] = False
    is_connected: ClassVar[bool] = False

    @classmethod
    def of(
        cls,
        form: tuple[FormField, ...],
        data: Mapping[str, Any] | None = None,
        *,
        is_by_passkey: bool = False,
        is_connected: bool = False,
    ) -> RegisterForm:
        """Return the form with these fields; the password is optional with a passkey, and absent for a federated identity."""
        form = tuple(field for field in form if not (is_connected and _is_password(field)))

        def members() -> dict[str, Any]:
            names = [field.name for field in form if field.name in IDENTIFIERS]
            fields = tuple(_optional_password(field) if is_by_passkey else field for field in form)
            widgets = {field.name: widget(field, is_second_name=field.name in names[1:]) for field in fields}
            return {**widgets, "form_fields": form, "is_by_passkey": is_by_passkey, "is_connected": is_connected}

        return tenant_form(cls, form, members, is_by_passkey, is_connected)(data=data)

    @property
    def rows(self) -> list[tuple[FormField, Any]]:
        """The fields with their WTForms fields, without the terms."""
        return [(field, self[field.name]) for field in self.form_fields if field.name != TERMS]

    @property
    def first_fields(self) -> tuple[str, ...]:
        return tuple(field.name for field, _ in self.rows if field.type != "multi")

    @property
    def terms(self) -> Any:
        """The checkbox of the terms; None if there is none."""
        return self._fields.get(TERMS)

    @property
    def has_own_terms(self) -> bool:
        """Whether the tenant wrote the label of the terms."""
        return any(field.name == TERMS and field.label for field in self.form_fields)

    def to_request(self) -> RegisterRequest:
        sent = [field for field in self.form_fields if not (self.is_by_passkey and field.name == "password")]
        typed = {field.name: to_wire_value(field, self[field.name].data) for field in sent}
        new_credential = read_credential(self) if self.is_by_passkey else None
        return RegisterRequest(
            interaction_id=current_visit().interaction_id,
            fields=typed,
            captcha=self.answered,
            credential=new_credential,
            is_connected=self.is_connected,
        )

    @property
    def answered(self) -> CaptchaAnswer | None:
        return self.captcha.answer


def _is_password(field: FormField) -> bool:
    return "password" in (field.name, field.matches)


def _optional_password(field: FormField) -> FormField:
    return field.model_copy(update={"required": False}) if _is_password(field) else field
