"""The rules of custom fields and of the registration form, which the settings have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from pydantic import ValidationError

from app.contract import errors
from app.contract.registration import registration_schema_operations
from app.contract.registration.form import CUSTOM, FormField, contradiction
from app.contract.tenants.settings import TenantSettings
from app.identity.administration.settings_store import refuse_wrong
from app.identity.directory.tenants import registration_schema, tenant_writes
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, Store, StoreAccess
from app.identity.platform.resource_storage.rules import Rules
from app.kit.resources.resource import Resource
from app.kit.resources.resource_values import ItemInput

_KEY, _FORM = "custom_fields", "registration_form"


@dataclass(frozen=True)
class CustomFieldStore(Store):
    """The names of the settings; an item's id is `cf_` and the name."""

    raises_version: ClassVar[bool] = True

    def items(self, access: StoreAccess, resource: Resource, id_prefix: Sequence[str] = ()) -> list[Item]:  # noqa: ARG002 - Store
        """Return the fields in their order."""
        return [Item((f"{CUSTOM}{name}",), {"display": name.replace("_", " ")}) for name in _names(access)]

    def item(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> Item | None:
        """Return a field by its key, in any letter case."""
        return next(
            (element for element in self.items(access, resource) if element.id[0].lower() == item_id[0].lower()), None
        )

    def add(self, access: StoreAccess, resource: Resource, item: Item) -> None:  # noqa: ARG002 - Store
        """Add a field."""
        _write(access, [*_names(access), item.id[0].removeprefix(CUSTOM)])

    def change(self, access: StoreAccess, resource: Resource, item: Item) -> None:
        """Nothing of a field changes."""

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:  # noqa: ARG002 - Store
        """Remove a field. Raises SettingsRefused if the registration form has it."""
        _write(access, [name for name in _names(access) if f"{CUSTOM}{name}" != item_id[0]])


def make_key(context: Context, item_input: ItemInput) -> None:
    """Make the key of a new field. Raises CustomFieldExists for a key in use, in any letter case."""
    if (display := item_input.values.get(("display",))) is None:  # a GET or DELETE
        return
    key = f"{CUSTOM}{display.replace(' ', '_')}"
    if key.lower() in (f"{CUSTOM}{name}".lower() for name in context.tenant.settings.custom_fields):
        raise errors.CustomFieldExists
    item_input.id["key"] = key


def read_custom_fields(context: Context, item_input: ItemInput) -> None:
    """Replace the custom fields of the form. Raises NoCustomField, WrongCustomField, BadField."""
    settings, data = context.tenant.settings, item_input.computed["data"]
    if data is None:  # a GET
        if not _custom_elements(settings):
            raise errors.NoCustomField
        return
    elements = [item.model_dump(mode="json") for item in data]
    if any(element["name"].removeprefix(CUSTOM) not in settings.custom_fields for element in elements):
        raise errors.WrongCustomField
    others = [item for item in registration_schema.as_schema(settings) if not item["name"].startswith(CUSTOM)]
    _put_form(
        settings, item_input, [{name.lower(): value for name, value in other.items()} for other in (*others, *elements)]
    )


def show_custom_fields(context: Context, settings: TenantSettings, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    values["data"] = [
        {name.lower(): value for name, value in element.items()} for element in _custom_elements(settings)
    ]


def read_schema(context: Context, item_input: ItemInput) -> None:
    """Replace the form. Raises BadField."""
    if (data := item_input.computed["data"]) is not None:
        _put_form(context.tenant.settings, item_input, [item.model_dump(mode="json") for item in data])


def show_schema(context: Context, settings: TenantSettings, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    values["data"] = registration_schema.as_schema(settings)


def _custom_elements(settings: TenantSettings) -> list[dict[str, Any]]:
    return [item for item in registration_schema.as_schema(settings) if item["name"].startswith(CUSTOM)]


def _put_form(settings: TenantSettings, item_input: ItemInput, elements: Sequence[Mapping[str, Any]]) -> None:
    elements = [element for element in elements if element["checked"]]
    form = [_read_field(settings, elements, number) for number in range(len(elements))]
    if form and (expected := contradiction(form, settings.custom_fields)):
        raise errors.BadField(f"Data: {expected}.")
    item_input.values[_FORM,] = [field.model_dump(mode="json", exclude_defaults=True) for field in form]


def _read_field(settings: TenantSettings, elements: Sequence[Mapping[str, Any]], number: int) -> FormField:
    try:
        return FormField.model_validate(registration_schema.from_element(settings, elements, number))
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        at, sentence = ".".join(map(str, first["loc"])), str(first["msg"]).removeprefix("Value error, ")
        raise errors.BadField(f"Data.{number}{at and f'.{at}'}: {sentence}.") from None
    except ValueError as problem:
        raise errors.BadField(f"Data.{number}.{problem}.") from None


def _names(access: StoreAccess) -> list[str]:
    stored = tenant_writes.own(access.work)
    return list(stored.settings.get(_KEY, ())) if stored else []


def _write(access: StoreAccess, names: list[str]) -> None:
    stored = tenant_writes.own(access.work)
    if stored is not None:
        settings = {**stored.settings, _KEY: names}
        refuse_wrong(access, stored.settings, settings, 1)
        tenant_writes.change(access.work, settings=settings)


RULES: Final = {
    registration_schema_operations.CUSTOM_FIELDS: Rules(on_input=make_key, store=CustomFieldStore()),
    registration_schema_operations.ON_FORM: Rules(on_input=read_custom_fields, on_output=show_custom_fields),
    registration_schema_operations.SCHEMA: Rules(on_input=read_schema, on_output=show_schema),
}
