"""The form of a registration: the fields that the tenant asks for, and a captcha where it wants one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from wtforms import HiddenField

from app.contract.captcha import CaptchaAnswer
from app.contract.hub_registration import RegisterRequest
from app.contract.registration_form import IDENTIFIERS, TERMS, FormField
from app.hub.forms.base import HubForm
from app.hub.forms.captcha import CaptchaField
from app.hub.forms.passkey import read_credential
from app.hub.forms.registration_fields import widget
from app.hub.visit import current_visit


class RegisterForm(HubForm):
    """The tenant's fields stand in a subclass that `of` makes."""

    captcha = CaptchaField()
    credential = HiddenField()
    connection = HiddenField(name="with")
    asked: ClassVar[tuple[FormField, ...]] = ()
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
        """Return the form with the tenant's fields, in their order; `is_by_passkey` needs no password, `is_connected` has none."""
        form = tuple(field for field in form if not (is_connected and _is_password(field)))
        names = [field.name for field in form if field.name in IDENTIFIERS]
        asked = tuple(_not_needed(field) if is_by_passkey else field for field in form)
        widgets = {field.name: widget(field, is_second_name=field.name in names[1:]) for field in asked}
        told = {**widgets, "asked": form, "is_by_passkey": is_by_passkey, "is_connected": is_connected}
        kind: type[RegisterForm] = type("TenantsForm", (cls,), told)
        return kind(data=data)

    @property
    def rows(self) -> list[tuple[FormField, Any]]:
        """Each field with its widget, but for the terms."""
        return [(field, self[field.name]) for field in self.asked if field.name != TERMS]

    @property
    def terms(self) -> Any:
        """The box to tick where the tenant wants one."""
        return self._fields.get(TERMS)

    def to_request(self) -> RegisterRequest:
        asked = [field for field in self.asked if not (self.is_by_passkey and field.name == "password")]
        typed = {field.name: to_wire_value(field, self[field.name].data) for field in asked}
        made = read_credential(self) if self.is_by_passkey else None
        return RegisterRequest(
            attempt=current_visit().interaction_id,
            fields=typed,
            captcha=self.answered,
            credential=made,
            is_connected=self.is_connected,
        )

    @property
    def answered(self) -> CaptchaAnswer | None:
        return self.captcha.answer


def _is_password(field: FormField) -> bool:
    return "password" in (field.name, field.matches)


def _not_needed(field: FormField) -> FormField:
    return field.model_copy(update={"required": False}) if _is_password(field) else field


def to_wire_value(field: FormField, typed: Any) -> str:
    """Return what was typed as the service reads it: a box as `true`, a day as MM/dd/yyyy."""
    if field.type == "multi":
        return "true" if typed else ""
    text = str(typed or "")
    parts = text.split("-")
    is_day = field.name == "birth_date" and [len(part) for part in parts] == [4, 2, 2]
    return f"{parts[1]}/{parts[2]}/{parts[0]}" if is_day else text
