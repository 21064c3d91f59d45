"""The operations that read accounts. `self_service` reads the caller's own account, which may send a welcome mail."""

from __future__ import annotations

from app.contract.accounts import operations as contract
from app.contract.profile import Profile, Profiles
from app.identity.directory.accounts import service as accounts
from app.identity.platform.context import Context


@contract.read_by_uid.implements
def read_by_uid(context: Context, req: contract.ReadAccountByUid) -> Profile:
    return accounts.profile_for_server(context, accounts.require(context, req.uid), req.fields_)


@contract.read_by_identifier.implements
def read_by_identifier(context: Context, req: contract.ReadAccount) -> Profile:
    account = accounts.require_by_identifier(context, email=req.email, username=req.username, phone=req.phone)
    return accounts.profile_for_server(context, account, req.fields_)


@contract.identities.implements
def identities(context: Context, req: contract.ReadIdentities) -> Profiles:
    account = accounts.require_by_email(context, req.email)
    return Profiles(data=[accounts.profile_for_server(context, account, req.fields_)])
