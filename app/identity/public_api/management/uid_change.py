"""Gives an account another id, in every table that names accounts."""

from __future__ import annotations

from typing import Final

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError

from app.contract import errors
from app.contract.catalogue import taken_uids
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.directory.accounts import account_store, identifiers, pin_hash
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import PREVIOUS_UID
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.platform.store.tables import all_tables

_UNCHANGED: Final = frozenset({"audit"})
"""The audit log says what happened under the former id."""


def change(context: Context, account: Account, requested: str) -> None:
    """Give a locked account another id. Sessions, tokens, passkeys and consents stay its own; open codes and links are closed,
    because they are bound to the former id.

    Raises:
        MalformedUid: the id is malformed or reserved, or the tenant does not allow custom ids.
        UidTaken: an account has or had the id.
    """
    uid = account.uid
    _refuse(context, uid, requested)
    one_time_tokens.close(context, uid)
    account_store.remove_identifiers(context, uid, PREVIOUS_UID, requested)  # the account may return to a former id
    private = {
        **account.private,
        "is_custom_uid": True,
        "previous_uids": [
            *(previous_uid for previous_uid in account.private.get("previous_uids") or () if previous_uid != requested),
            uid,
        ],
    }
    if hashed := pin_hash.hash_of(context, account):
        private[pin_hash.KEY] = {**account.pin, **pin_hash.pin_entry(context, requested, hashed), **_dates(account)}
    _rename(context, uid, requested)
    account_store.add_identifiers(context, requested, [(PREVIOUS_UID, uid, True)])
    changed = account_store.change(context, requested, {"private": private}) or account
    context.audit.record("uid.changed", uid=requested, previous=uid)
    events.emit(context, "UpdateUid", changed)


def _refuse(context: Context, uid: str, requested: str) -> None:
    if not context.tenant.settings.custom_uid:
        raise errors.MalformedUid("The tenant does not allow custom account ids.")
    if not identifiers.is_allowed_uid(requested) or requested.lower() in taken_uids():
        raise errors.MalformedUid
    former = account_store.current_uid(context, requested)
    if account_store.by_uid(context, requested) is not None or former not in (None, uid):
        raise errors.UidTaken


def _dates(account: Account) -> dict[str, str]:
    return {"changed_at": account.pin["changed_at"]} if "changed_at" in account.pin else {}


def _rename(context: Context, uid: str, requested: str) -> None:
    """Write the id in every row of the account. Raises UidTaken."""
    tables = {name: table for name, table in all_tables().items() if "uid" in table.c and name not in _UNCHANGED}
    accounts = tables.pop("accounts")
    for table in (accounts, *tables.values()):
        where = (table.c.tenant_id == context.tenant.tenant_id, table.c.uid == uid)
        try:
            context.work.run(update(table).where(*where).values(uid=requested))
        except IntegrityError:
            raise errors.UidTaken from None
    outbox = all_tables()["outbox"]  # deliveries keep their order, and are erased with the account
    of_account = (outbox.c.tenant_id == context.tenant.tenant_id, outbox.c.order_key == uid)
    context.work.run(update(outbox).where(*of_account).values(order_key=requested))
    context.work.locked[uid] = False
