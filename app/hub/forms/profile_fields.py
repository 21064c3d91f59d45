"""The form for profile fields: edited on the profile page, or filled in where the tenant requires them at sign-in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from app.contract import errors
from app.contract.accounts.pages.profile_pages import ProfileEdit
from app.contract.registration.form import CUSTOM, FormField, Option
from app.hub.forms.registration_fields import to_wire_value, widget
from app.hub.forms.tenant_forms import tenant_form
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm
from app.kit.operations.errors import ApiError


class FieldsForm(HubForm):
    """A form with the tenant's fields, built as a subclass by `of`."""

    form_fields: ClassVar[tuple[FormField, ...]] = ()
    refusals = {
        errors.MalformedDate: ("birth_date", _l("Enter a valid date.")),
        errors.TooYoung: ("birth_date", _l("You’re not old enough to create an account here.")),
    }

    @classmethod
    def of(cls, fields: tuple[FormField, ...], **form_arguments: Any) -> FieldsForm:
        """Return a form with these fields in this order."""

        def members() -> dict[str, Any]:
            return {**{field.name: widget(field, is_second_name=False) for field in fields}, "form_fields": fields}

        return tenant_form(cls, fields, members)(**form_arguments)

    @property
    def rows(self) -> list[tuple[FormField, Any]]:
        return [(field, self[field.name]) for field in self.form_fields]

    @property
    def typed(self) -> dict[str, str]:
        """The typed values in wire format."""
        return {field.name: to_wire_value(field, self[field.name].data) for field in self.form_fields}

    def to_request(self) -> ProfileEdit:
        return ProfileEdit(fields=self.typed)

    def add_refusal(self, refusal: ApiError) -> bool:
        """Add errors to the refused fields; return whether any field was refused."""
        if "birth_date" in self._fields and super().add_refusal(refusal):
            return True
        by_wire = {field.wire_name: field.name for field in self.form_fields}
        refused_names = [by_wire[name] for name, _ in refusal.problems if name in by_wire]
        for name in refused_names:
            self.add_error(name, _l("That doesn’t look right. Check it and try again."))
        return bool(refused_names)


def initial_values(fields: tuple[FormField, ...], profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return the profile's values of the fields as initial data of their widgets."""
    custom = profile.get("CustomFields") or {}
    values: dict[str, Any] = {}
    for field in fields:
        value = custom.get(field.name.removeprefix(CUSTOM)) if field.is_custom else profile.get(field.member or "")
        values[field.name] = value in (True, "true") if field.type == "multi" else _initial_value(field, value)
    return values


def _initial_value(field: FormField, value: Any) -> str:
    """Return a birth date in ISO format for the date field; any other value unchanged."""
    text = value if isinstance(value, str) else ""
    parts = text.replace("/", "-").split("-")
    if field.name != "birth_date" or len(parts) != 3 or len(parts[2]) != 4:
        return text
    return f"{parts[2]}-{parts[0]:0>2}-{parts[1]:0>2}"


SAMPLE_FIELDS: Final = (
    FormField(name="first_name", required=True),
    FormField(name="last_name"),
    FormField(name="birth_date"),
    FormField(
        name="cf_size",
        label={"en": "T-shirt size", "de": "T-Shirt-Größe", "ar": "مقاس القميص"},
        type="option",
        options=(Option(value="m", text={"en": "Medium", "de": "Mittel", "ar": "متوسط"}), Option(value="xl")),
    ),
    FormField(name="about", type="text"),
    FormField(name="is_email_subscribed", type="multi"),
)
