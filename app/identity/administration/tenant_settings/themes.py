"""The rules of themes: a theme is active while the tenant's brand is the theme's, and each change of its look is a version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from app.contract.errors import BadField
from app.contract.tenants.branding import Brand, set_members, stored_brand
from app.contract.tenants.settings import TenantSettings
from app.contract.themes import theme_operations, theme_problems
from app.contract.themes.theme_operations import ThemeBrand
from app.identity.administration.tenant_settings import theme_views
from app.identity.administration.theme_versions import history
from app.identity.directory.tenants import script_permission, tenant_writes, theme_files
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.identity.platform.resource_storage.rules import Change, Rules
from app.kit.resources.resource_values import ItemInput


def show_state(context: Context, content: theme_operations.StoredTheme, values: dict[str, Any]) -> None:
    """Show whether the theme is active, and null for what it inherits."""
    values["is_active"] = content.brand == context.tenant.brand
    inherited = {name for name in ThemeBrand.model_fields if ThemeBrand.model_fields[name].default is None}
    values["brand"] |= dict.fromkeys(inherited - content.brand.model_fields_set)
    values |= theme_views.members_of(content.brand, context.tenant.settings.default_locale)
    values["script_problems"] = script_permission.script_reports(context, content.brand.scripts)


def read_members(context: Context, provided: ItemInput) -> None:
    """Translate the interface's members of a request to its brand, and refuse scripts that are not allowed. Raises BadField."""
    stored = SHARED_TABLE.item(StoreAccess.of(context), theme_operations.THEMES, provided.item_id)
    former = stored_brand(stored.content.get("brand") if stored is not None else None)
    if any(value is not None for value in provided.computed.values()):
        _translate(context, provided, former)
    script_permission.refuse_new_scripts(context, provided.values.get(("brand", "scripts")) or {}, former.scripts)


def _translate(context: Context, provided: ItemInput, former: Brand) -> None:
    sent = {path[1]: value for path, value in provided.values.items() if path[0] == "brand"}
    brand = theme_views.merged_brand(
        sent,
        frozenset(path[1] for path in provided.stated if path[0] == "brand" and len(path) > 1),
        former,
        provided.computed,
        context.tenant.settings.default_locale,
    )
    for name, value in brand.items():
        if value in (None, "", {}):  # what a theme does not set is inherited
            provided.values.pop(("brand", name), None)
        else:
            provided.values["brand", name] = value


def refuse_scripts_of_file(context: Context, before: Item | None, after: Item) -> None:
    """Refuse scripts of a configuration file that its settings do not allow. Raises BadField."""
    former, brand = (stored_brand(item.content.get("brand") if item else None) for item in (before, after))
    script_permission.refuse_new_scripts(context, brand.scripts, former.scripts)


def show_changed(context: Context, before: Item | None, after: Item) -> None:
    """Show a change of the active theme at once."""
    row = tenant_writes.own(context.work)  # the context's brand may be some seconds old
    shown = context.tenant.brand if row is None else stored_brand(row.brand)
    if before is not None and stored_brand(before.content.get("brand")) == shown:
        _activate(context, after)


def activate(context: Context, item: Item, body: Any) -> theme_operations.ThemeActivated:  # noqa: ARG001 - the hook's signature
    from app.identity.administration.resource_operations.write_resources import Writer  # noqa: PLC0415 - imports this

    Writer(context, theme_operations.THEMES, BadField, BadField()).check(item)
    _activate(context, item)
    context.audit.record("themes.activated", id=item.id[0], by=history.author(context))
    return theme_operations.ThemeActivated()


def unusable_values(
    content: theme_operations.StoredTheme,
    settings: TenantSettings | None,  # noqa: ARG001 - the hook's signature
) -> Iterator[tuple[str, str]]:
    """Yield the texts, templates and rules that cannot be used."""
    for problem in theme_problems.problems(content.brand):
        yield ".".join(("brand", *problem.path)), problem.expected + (f" (line {problem.line})" if problem.line else "")


MAX_LOOKS_BYTES: Final = 2 * 1024 * 1024
"""Of the looks of all themes of a tenant as JSON: each hub reads them with the tenant (decision 0422)."""


def refuse_missing_files(context: Context, before: Item | None, after: Item) -> None:  # noqa: ARG001 - the hook's signature
    """Refuse a theme that names files which the tenant has not stored. Raises BadField."""
    files = (after.content.get("brand") or {}).get("files") or {}
    if sentence := theme_files.problem(context.work, files, context.theme_files):
        raise BadField(f"Brand.Files: {sentence}.")


def refuse_large_looks(context: Context, changes: Sequence[Change]) -> None:
    """Refuse changes with which the looks of all themes grow, and are too large together. Raises BadField."""
    stored = SHARED_TABLE.items(StoreAccess.of(context), theme_operations.THEMES)
    before = {item.id: _size_bytes(item) for item in stored}
    after = dict(before)
    for former, item in changes:
        if former is not None:
            after.pop(former.id, None)
        if item is not None:
            after[item.id] = _size_bytes(item)
    total = sum(after.values())
    if total > max(MAX_LOOKS_BYTES, sum(before.values())):
        most, found = (count / 1024**2 for count in (MAX_LOOKS_BYTES, total))
        raise BadField(
            f"Brand: expected at most {most:.1f} MB for the looks of all themes together; found {found:.1f} MB. "
            "Delete a theme, or make its templates, texts and CSS smaller."
        )


def _size_bytes(item: Item) -> int:
    look = set_members(item.content.get("brand"))  # the same size by API and by file
    return len(json.dumps(look, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _activate(context: Context, item: Item) -> None:
    brand = stored_brand(item.content.get("brand"))
    tenant_writes.change(context.work, brand=history.stored(brand))
    context.tenant = replace(context.tenant, brand=brand)
    context.services.directory.clear_cache()


RULES: Final = {
    theme_operations.THEMES: Rules(
        problems=unusable_values, before_write=refuse_missing_files, together=refuse_large_looks,
        on_input=read_members, on_output=show_state,
        from_file=refuse_scripts_of_file,
        number=history.number_of, after_write=history.keep, after_request=show_changed, after_delete=history.remove,
        actions={"activate": activate},
    ),
}  # fmt: skip
