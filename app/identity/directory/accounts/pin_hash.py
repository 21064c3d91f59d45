"""The encrypted hash of an account's PIN; an unencrypted hash of so few digits could be brute-forced at once."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Protocol

from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.context import Context
from app.identity.platform.store.encrypted_columns import EncryptedColumns, Renew
from app.kit.clock import iso

A = accounts.c
KEY = "pin"


class PinInput(Protocol):
    """A request's `PINInfo`."""

    @property
    def pin(self) -> str | None: ...

    @property
    def skipped(self) -> bool | None: ...


def pin_entry(context: Context, uid: str, hashed: str) -> dict[str, Any]:
    """Return the `private` entry of a PIN that is set now."""
    sealed = context.services.encryption.encrypt(hashed.encode(), _associated_data(context.tenant.tenant_id, uid))
    return {"sealed": base64.b64encode(sealed).decode(), "changed_at": iso(context.now)}


def skipped_entry(context: Context, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry after the PIN was skipped; a set PIN stays."""
    return {**before, "skipped_at": iso(context.now)}


def private_entry(
    context: Context, uid: str, before: dict[str, Any], pin_info: PinInput | None, new_hash: str | None
) -> dict[str, Any]:
    """Return the entry of the account's private fields for a `PINInfo`; empty if that changes nothing."""
    if new_hash is not None:
        return {KEY: pin_entry(context, uid, new_hash)}
    if pin_info is not None and pin_info.skipped and context.tenant.settings.pin.is_on:
        return {KEY: skipped_entry(context, before)}
    return {}


def hash_of(context: Context, account: Account) -> str | None:
    """Return the hash of the account's PIN; raises DecryptionError."""
    if not account.has_pin:
        return None
    sealed = base64.b64decode(account.pin["sealed"])
    return context.services.encryption.decrypt(sealed, _associated_data(context.tenant.tenant_id, account.uid)).decode()


def _associated_data(tenant_id: str, uid: str) -> str:
    return f"{tenant_id} pin {uid}"


def _renewed(row: Mapping[str, Any], renew: Renew) -> dict[str, Any]:
    private: dict[str, Any] = row["private"]
    entry = private.get(KEY) or {}
    if not entry.get("sealed"):
        return {}
    sealed = renew(base64.b64decode(entry["sealed"]), _associated_data(row["tenant_id"], row["uid"]))
    return {"private": {**private, KEY: {**entry, "sealed": base64.b64encode(sealed).decode()}}}


ENCRYPTED_COLUMNS = EncryptedColumns(accounts, ("private",), _renewed, A.private[KEY]["sealed"].as_string() != "")
