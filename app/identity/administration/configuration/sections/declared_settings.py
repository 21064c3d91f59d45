"""The settings of a tenant after a configuration file: those of `settings`, and those with a key of their own beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.contract.second_factors.service_settings import SECRETS_IN_FILE
from app.contract.tenants.file import BESIDE_SETTINGS, TenantFile
from app.identity.administration.configuration.value_origins import Marks, marks, merged


def managed(declared: TenantFile, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that the file manages, by the keys that its tenant has."""
    keys = declared.model_fields_set
    return {
        key: value
        for key, value in settings.items()
        if (key in keys if key in BESIDE_SETTINGS else declared.settings is not None)
    }


def after_file(declared: TenantFile, stored: Mapping[str, Any], before: Marks) -> dict[str, Any]:
    """Return the settings to store; parts of the tenant that the file omits stay. `before`: the marks of the last file."""
    after = merged(stored, _named(declared), managed(declared, before))
    is_default = {key for key in BESIDE_SETTINGS if after.get(key, ()) in (None, [])}
    return {key: value for key, value in after.items() if key not in is_default}


def marks_after(declared: TenantFile, before: Marks) -> Marks:
    """Return the marks of the settings that this file names, and earlier marks of the parts that it omits."""
    others = {key: mark for key, mark in before.items() if key not in managed(declared, before)}
    return {**others, **marks(_named(declared))}


def _named(declared: TenantFile) -> dict[str, Any]:
    secrets: Any = SECRETS_IN_FILE
    beside = declared.model_dump(mode="json", include=set(BESIDE_SETTINGS), exclude=secrets, exclude_unset=True)
    own = declared.settings.model_dump(mode="json", exclude_unset=True) if declared.settings else {}
    return {**own, **beside}
