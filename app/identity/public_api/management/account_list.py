"""The operation of the tenant's servers that lists accounts."""

from __future__ import annotations

from app.contract import errors
from app.contract.accounts import account_list_operations
from app.identity.directory.account_search import account_list
from app.identity.directory.accounts import accounts
from app.identity.platform.context import Context


@account_list_operations.list_accounts.implements
def list_accounts(context: Context, req: account_list_operations.ListAccounts) -> account_list_operations.AccountList:
    try:
        listed = account_list.list_accounts(context, req)
    except account_list.WrongCursor:
        raise errors.BadField("cursor: expected NextCursor of a page with the same filters, sort and order.") from None
    return account_list_operations.AccountList(
        data=[accounts.profile_for_server(context, account, account_list.FIELDS) for account in listed.accounts],
        next_cursor=listed.cursor,
        count=listed.page.total,
        count_is_lower_bound=listed.page.is_lower_bound if listed.page.total is not None else None,
    )
