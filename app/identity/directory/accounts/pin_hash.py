"""The encrypted hash of an account's PIN; an unencrypted hash of so few digits could be brute-forced at once."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Protocol

from sqlalchemy import select, update

from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.context import Context
from app.identity.platform.encryption import Encryption
from app.identity.platform.store.unit_of_work import UnitOfWork
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


def reencrypt(work: UnitOfWork, encryption: Encryption) -> int:
    """Reencrypt hashes that are encrypted under an older secret. Return their number."""
    with_pin = select(A.uid, A.private).where(A.tenant_id == work.tenant_id, A.private[KEY]["sealed"].as_string() != "")
    count = 0
    for row in work.all(with_pin):
        entry, associated_data = row.private[KEY], _associated_data(work.tenant_id, row.uid)
        sealed = base64.b64decode(entry["sealed"])
        if not encryption.is_current(sealed):
            reencrypted = base64.b64encode(
                encryption.encrypt(encryption.decrypt(sealed, associated_data), associated_data)
            ).decode()
            private = {**row.private, KEY: {**entry, "sealed": reencrypted}}
            where = (
                A.tenant_id == work.tenant_id,
                A.uid == row.uid,
                A.private[KEY]["sealed"].as_string() == entry["sealed"],
            )
            count += work.changed(update(accounts).where(*where).values(private=private))
    return count


def _associated_data(tenant_id: str, uid: str) -> str:
    return f"{tenant_id} pin {uid}"
