"""The operations that read accounts. `self_service` reads the caller's own account, which may send a welcome mail."""

from __future__ import annotations

from app.contract.accounts import operations as contract
from app.contract.profile import Profile, Profiles
from app.identity.directory.accounts import service
from app.identity.platform.context import Context


@contract.read_by_uid.implements
def read_by_uid(context: Context, req: contract.ReadAccountByUid) -> Profile:
    return service.profile_for_server(context, service.require(context, req.uid), req.fields_)


@contract.read_by_identifier.implements
def read_by_identifier(context: Context, req: contract.ReadAccount) -> Profile:
    account = service.require_by_identifier(context, email=req.email, username=req.username, phone=req.phone)
    return service.profile_for_server(context, account, req.fields_)


@contract.identities.implements
def identities(context: Context, req: contract.ReadIdentities) -> Profiles:
    account = service.require_by_email(context, req.email)
    return Profiles(data=[service.profile_for_server(context, account, req.fields_)])
