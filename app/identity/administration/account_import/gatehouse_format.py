"""Our own format: one account of a configuration file per line, with `password_hash`, `identities` and more."""

from __future__ import annotations

from typing import Any

from app.identity.administration.account_import.field_readers import Fields, as_fields
from app.identity.administration.account_import.import_record import ImportDraft, MappedRecord

_BOOLEANS = ("email_verified", "phone_verified", "is_active")
_INSTANTS = ("password_changed_at", "created_at")


def draft(record: Any, mapped: MappedRecord) -> ImportDraft:
    """Return the draft of a record. Raises RecordRefused."""
    fields = as_fields("", record)
    keys = {**fields.members}
    for key in _BOOLEANS:
        if (value := fields.boolean(key)) is not None:
            keys[key] = value
    for key in _INSTANTS:
        if key in keys:
            keys[key] = fields.instant(key)
    if (born := fields.date("birth_date")) is not None:
        keys["birth_date"] = born
    if keys.get("roles") is not None:
        keys["roles"] = [new for text in fields.texts("roles") if (new := mapped.role(text))]
    if keys.get("identities") is not None:
        keys["identities"] = [
            identity for item in fields.objects("identities") if (identity := _identity(item, mapped))
        ]
    return ImportDraft(keys)


def _identity(fields: Fields, mapped: MappedRecord) -> dict[str, Any] | None:
    connection = mapped.connection(fields.text("connection") or "")
    return {**fields.members, "connection": connection, "id": fields.text("id") or ""} if connection else None
