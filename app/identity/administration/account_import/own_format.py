"""Our own format: one account of a configuration file per line, with `password_hash`, `identities` and more."""

from __future__ import annotations

from typing import Any

from app.identity.administration.account_import.records import Draft, Mapped, Refused


def draft(record: Any, mapped: Mapped) -> Draft:
    """Return the draft of a record. Raises Refused."""
    if not isinstance(record, dict):
        raise Refused("expected one JSON object")
    keys = {**record}
    if isinstance(roles := keys.get("roles"), list):
        keys["roles"] = [new for one in roles if (new := mapped.role(str(one)))]
    if isinstance(identities := keys.get("identities"), list):
        keys["identities"] = [
            {**one, "connection": new}
            for one in identities
            if isinstance(one, dict) and (new := mapped.connection(str(one.get("connection") or "")))
        ]
    return Draft(keys)
