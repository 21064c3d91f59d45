"""Lists accounts in pages. A cursor is a place in one list: it is encrypted, because it has the email or name of an account."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from app.contract.accounts.account_list_operations import LISTED_MEMBERS, ListAccounts
from app.identity.directory.account_search.account_conditions import conditions
from app.identity.directory.account_search.account_order import TIMES, order_of
from app.identity.directory.account_search.account_search import AccountPage, AccountSearch, Position
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account, no_organizations
from app.identity.platform.context import Context
from app.identity.platform.encryption import DecryptionError
from app.kit import randomness

FIELDS: Final = ",".join(LISTED_MEMBERS)


class WrongCursor(Exception):
    """The cursor is none of this list."""


class Listed(NamedTuple):
    """A page of accounts, and the cursor of the next one."""

    accounts: list[Account]
    cursor: str | None
    page: AccountPage


def list_accounts(context: Context, req: ListAccounts) -> Listed:
    """Return a page of the tenant's accounts. Raises WrongCursor."""
    is_sqlite = context.services.database.is_sqlite
    is_descending = req.order == "desc" if req.order else req.sort in TIMES
    stated = conditions(req, context.tenant.tenant_id, is_sqlite=is_sqlite)
    search = AccountSearch(context.work, is_sqlite, order_of(req.sort, is_sqlite=is_sqlite), is_descending, stated)
    page = search.page(_position(context, req), req.limit)
    found = accounts.by_uids(context, page.uids)
    # The organizations of a profile are a statement for each account, and no listed member needs them.
    listed = [replace(found[uid], organizations=no_organizations) for uid in page.uids if uid in found]
    return Listed(listed, _cursor(context, req, page.following), page)


def _cursor(context: Context, req: ListAccounts, position: Position | None) -> str | None:
    if position is None:
        return None
    key = position.key.isoformat() if isinstance(position.key, datetime) else position.key
    sealed = context.services.encryption.encrypt(json.dumps([key, position.uid]).encode(), _list_name(context, req))
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def _position(context: Context, req: ListAccounts) -> Position | None:
    if req.cursor is None:
        return None
    try:
        sealed = base64.b64decode(req.cursor + "=" * (-len(req.cursor) % 4), altchars=b"-_", validate=True)
        key, uid = json.loads(context.services.encryption.decrypt(sealed, _list_name(context, req)))
    except (binascii.Error, ValueError, DecryptionError):
        raise WrongCursor from None
    return Position(datetime.fromisoformat(key) if req.sort in TIMES else key, uid)


def _list_name(context: Context, req: ListAccounts) -> str:
    """Return what the cursors of one list have in common: the tenant, the filters and the order."""
    stated: dict[str, Any] = req.model_dump(mode="json", exclude={"cursor", "limit"}, exclude_none=True)
    return f"accounts {context.tenant.tenant_id} {randomness.digest(json.dumps(stated, sort_keys=True))}"
