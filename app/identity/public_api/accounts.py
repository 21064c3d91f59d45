"""The operations that read accounts. `self_service` reads the caller's own account, which may send a welcome mail."""

from __future__ import annotations

from app.contract.accounts import account_operations
from app.contract.profile import Profile, Profiles
from app.identity.directory.accounts import accounts
from app.identity.platform.context import Context


@account_operations.read_by_uid.implements
def read_by_uid(context: Context, req: account_operations.ReadAccountByUid) -> Profile:
    return accounts.profile_for_server(context, accounts.require(context, req.uid), req.fields_)


@account_operations.read_by_identifier.implements
def read_by_identifier(context: Context, req: account_operations.ReadAccount) -> Profile:
    account = accounts.require_by_identifier(context, email=req.email, username=req.username, phone=req.phone)
    return accounts.profile_for_server(context, account, req.fields_)


@account_operations.identities.implements
def identities(context: Context, req: account_operations.ReadIdentities) -> Profiles:
    account = accounts.require_by_email(context, req.email)
    return Profiles(data=[accounts.profile_for_server(context, account, req.fields_)])
