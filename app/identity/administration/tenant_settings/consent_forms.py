"""Consent forms as a resource: drafts and disabled forms in the shared table, published ones in the settings, where they are in force."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Final

from app.contract import errors
from app.contract.consents import consent_form_operations
from app.contract.consents.consent_form_operations import DISABLED, DRAFT, PUBLISHED, StoredConsentForm
from app.contract.tenants.settings import TenantSettings
from app.identity.administration.settings_store import SettingsRefused, refuse_wrong
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, Store, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.identity.platform.resource_storage.rules import Rules
from app.kit.resources.resource import Resource
from app.kit.resources.resource_values import ItemInput

_KEY: Final = "consent_forms"
_OPTION_NAMES: Final = {"consent_option_id": "id", "is_mandatory": "mandatory"}
"""The names of an option in requests, and those in the settings, if they differ."""


@dataclass(frozen=True)
class FormStore(Store):
    """The forms of the shared table and of the settings. A form that only the settings have, such as one of a configuration file,
    has its event and version as its id."""

    def items(self, access: StoreAccess, resource: Resource, id_prefix: Sequence[str] = ()) -> list[Item]:  # noqa: ARG002 - Store
        """Return the forms: those of the settings without a row, and then the others, the oldest first."""
        rows = SHARED_TABLE.items(access, resource)
        published = {_edition(item): item for item in _published(access)}
        own = {_edition(row.content) for row in rows if row.content["status"] != DRAFT}
        from_settings = [_from_settings(form) for edition, form in published.items() if edition not in own]
        return [*from_settings, *(_with_status(row, published) for row in rows)]

    def add(self, access: StoreAccess, resource: Resource, item: Item) -> None:
        """Add a form."""
        SHARED_TABLE.add(access, resource, item)

    def change(self, access: StoreAccess, resource: Resource, item: Item) -> None:
        """Replace a form, and add it to the settings or remove it from them by its status. Raises SettingsRefused."""
        is_row = SHARED_TABLE.item(access, resource, item.id) is not None
        write = SHARED_TABLE.change if is_row else SHARED_TABLE.add
        write(access, resource, item)
        if item.content["status"] != DRAFT:
            _enforce(access, item.content)

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:
        """Remove a draft."""
        SHARED_TABLE.remove(access, resource, item_id)


def read_options(context: Context, item_input: ItemInput) -> None:  # noqa: ARG001 - the hook's signature
    """Store options by the names of the settings."""
    if (options := item_input.computed.get("options")) is not None:
        item_input.values["options",] = [
            {_OPTION_NAMES.get(name, name): value for name, value in option.model_dump(mode="json").items()}
            for option in options
        ]


def show_form(context: Context, content: StoredConsentForm, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    names = {stored: shown for shown, stored in _OPTION_NAMES.items()}
    values["is_custom"] = content.is_custom
    values["options"] = [
        {names.get(name, name): value for name, value in option.model_dump(mode="json").items()}
        for option in content.options
    ]


def complete_draft(context: Context, before: Item | None, after: Item) -> None:
    """Give a new draft the next version of its event. Raises NoConsentForm for a form that is no draft: accounts have answered it."""
    if before is None:
        after.content.update(status=DRAFT, version=_next_version(context, after))
    elif before.content["status"] == after.content["status"] != DRAFT:
        raise errors.NoConsentForm


def refuse_removal(context: Context, item: Item) -> None:  # noqa: ARG001 - the hook's signature
    """Raises NoConsentForm for a form that is no draft: logs name it."""
    if item.content["status"] != DRAFT:
        raise errors.NoConsentForm


def set_status(context: Context, item: Item, body: consent_form_operations.ConsentFormStatus) -> Item:
    """Publish a form in place of the event's published one, or disable it. Raises BadField."""
    status = item.content["status"]
    if status == body.status:
        return item
    if status == DRAFT and body.status == DISABLED:
        raise errors.BadField("Status: Published, because the form is a draft.")
    version = _next_version(context, item) if status == DRAFT else item.content["version"]
    after = replace(item, content={**item.content, "status": body.status, "version": version}, modified_at=context.now)
    _refuse_contradiction(context, after)
    return after


def _refuse_contradiction(context: Context, item: Item) -> None:
    stored = tenant_writes.own(context.work)
    if stored is None:
        return
    try:
        access = StoreAccess.of(context)
        refuse_wrong(access, stored.settings, _settings_with(stored.settings, item.content), 2)
    except SettingsRefused as problem:
        raise errors.BadField(f"Status: {problem}.") from None


def _next_version(context: Context, item: Item) -> int:
    """Return a version of the event that no other form has or had."""
    access = StoreAccess(context.work, context.services.encryption, context.now)
    others = [element for element in _STORE.items(access, consent_form_operations.FORMS) if element.id != item.id]
    same = [other.content.get("version", 1) for other in others if other.content["event"] == item.content["event"]]
    return max(same, default=0) + 1


def _enforce(access: StoreAccess, form: dict[str, Any]) -> None:
    stored = tenant_writes.own(access.work)
    if stored is not None:
        settings = _settings_with(stored.settings, form)
        refuse_wrong(access, stored.settings, settings, 2)
        tenant_writes.change(access.work, settings=settings)


def _settings_with(before: dict[str, Any], form: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with a form published, or disabled."""
    settings = deepcopy(before)
    others = [setting for setting in settings.get(_KEY, ()) if setting["event"] != form["event"]]
    published = {name: value for name, value in form.items() if name != "status"}
    settings[_KEY] = [*others, published] if form["status"] == PUBLISHED else others
    return settings


def _published(access: StoreAccess) -> list[dict[str, Any]]:
    stored = tenant_writes.own(access.work)
    settings = TenantSettings.model_validate(stored.settings) if stored else TenantSettings()
    return [form.model_dump(mode="json") for form in settings.consent_forms]


def _edition(form: dict[str, Any]) -> tuple[str, int]:
    return form["event"], form.get("version", 1)


def _from_settings(form: dict[str, Any]) -> Item:
    event, version = _edition(form)
    return Item((f"{event}-{version}",), {**form, "status": PUBLISHED})


def _with_status(row: Item, published: dict[tuple[str, int], dict[str, Any]]) -> Item:
    """Return a form of the table; a published form has its content from the settings."""
    form = published.get(_edition(row.content))
    is_draft = row.content["status"] == DRAFT
    if form is not None and not is_draft:
        return replace(row, content={**form, "status": PUBLISHED})
    return replace(row, content={**row.content, "status": DRAFT if is_draft else DISABLED})


_STORE: Final = FormStore()
RULES: Final = {
    consent_form_operations.FORMS: Rules(
        on_input=read_options,
        on_output=show_form,
        before_write=complete_draft,
        before_delete=refuse_removal,
        actions={"set_status": set_status},
        store=_STORE,
    ),
}
