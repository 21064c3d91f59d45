"""The operations that read accounts. `self_service` reads the caller's own account, which may send a welcome mail."""

from __future__ import annotations

from app.contract import accounts as contract
from app.contract.profile import Profile, Profiles
from app.identity.directory.accounts import service
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context


@contract.read_by_uid.implements
def read_by_uid(context: Context, req: contract.ReadAccountByUid) -> Profile:
    return _to_profile(service.require(context, req.uid), req.fields_)


@contract.read_by_identifier.implements
def read_by_identifier(context: Context, req: contract.ReadAccount) -> Profile:
    account = service.require_by_identifier(context, email=req.email, username=req.username, phone=req.phone)
    return _to_profile(account, req.fields_)


@contract.identities.implements
def identities(context: Context, req: contract.ReadIdentities) -> Profiles:
    return Profiles(data=[_to_profile(service.require_by_email(context, req.email), req.fields_)])


def _to_profile(account: Account, fields: str | None) -> Profile:
    return Profile.of(service.project(service.profile_of(account), fields))
