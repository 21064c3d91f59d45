"""Operations of the tenant's servers that create, update and delete accounts."""

from __future__ import annotations

from app.contract import errors
from app.contract.accounts import account_operations
from app.contract.profile import Profile
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.use_cases.accounts import server_accounts
from app.identity.use_cases.accounts.server_update import change


@account_operations.create.implements
def create_account(context: Context, req: account_operations.CreateAccount) -> Profile:
    if not context.raw.body.strip():
        raise errors.BadPostBody("The body is empty.")
    return accounts.profile_for_server(context, server_accounts.create(context, req), req.fields_)


@account_operations.update.implements
def update(context: Context, req: account_operations.UpdateAccount) -> Profile:
    _refuse_empty(context)
    account = change(context, accounts.require(context, req.uid), req, req)
    return accounts.profile_for_server(context, account, req.fields_)


@account_operations.update_by_identifier.implements
def update_by_identifier(context: Context, req: account_operations.UpdateAccountByIdentifier) -> Profile:
    _refuse_empty(context)
    account = accounts.require_by_identifier(context, email=req.email, username=req.username, phone=req.phone)
    return accounts.profile_for_server(context, change(context, account, req, None), req.fields_)


@account_operations.delete_by_uid.implements
def delete_by_uid(context: Context, req: account_operations.DeleteAccountByUid) -> account_operations.AccountDeleted:
    return _deleted(context, accounts.require(context, req.uid))


@account_operations.delete_by_identifier.implements
def delete_by_identifier(context: Context, req: account_operations.DeleteAccount) -> account_operations.AccountDeleted:
    if not (req.email or req.username or req.phone):
        raise errors.EmailMissing
    account = accounts.require_by_identifier(context, email=req.email, username=req.username, phone=req.phone)
    return _deleted(context, account)


def _refuse_empty(context: Context) -> None:
    if not context.raw.body.strip():
        raise errors.BadPutBody("The body is empty.")


def _deleted(context: Context, account: Account) -> account_operations.AccountDeleted:
    server_accounts.delete(context, account)
    return account_operations.AccountDeleted()
