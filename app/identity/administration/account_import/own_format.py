"""Our own format: one account of a configuration file per line, with `password_hash`, `identities` and more."""

from __future__ import annotations

from typing import Any

from app.identity.administration.account_import.records import Draft, Mapped
from app.identity.administration.account_import.values import Fields, as_fields

_BOOLEANS = ("email_verified", "phone_verified", "is_active")
_INSTANTS = ("password_changed_at", "created_at")


def draft(record: Any, mapped: Mapped) -> Draft:
    """Return the draft of a record. Raises Refused."""
    given = as_fields("", record)
    keys = {**given.members}
    for key in _BOOLEANS:
        if (value := given.boolean(key)) is not None:
            keys[key] = value
    for key in _INSTANTS:
        if key in keys:
            keys[key] = given.instant(key)
    if (born := given.date("birth_date")) is not None:
        keys["birth_date"] = born
    if keys.get("roles") is not None:
        keys["roles"] = [new for one in given.texts("roles") if (new := mapped.role(one))]
    if keys.get("identities") is not None:
        keys["identities"] = [identity for one in given.objects("identities") if (identity := _identity(one, mapped))]
    return Draft(keys)


def _identity(given: Fields, mapped: Mapped) -> dict[str, Any] | None:
    connection = mapped.connection(given.text("connection") or "")
    return {**given.members, "connection": connection, "id": given.text("id") or ""} if connection else None
