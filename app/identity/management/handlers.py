"""The operations by which the tenant's servers write accounts."""

from __future__ import annotations

from app.contract import accounts as contract
from app.contract import errors as e
from app.contract.profile import Profile
from app.identity.accounts import service as accounts
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.management import factors, step_up
from app.identity.management.change import change
from app.identity.management.creation import create
from app.identity.store import removal
from app.identity.tasks import events
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the area's operations."""
    factors.register(server)
    step_up.register(server)
    server.implements(contract.create)(create_account)
    server.implements(contract.update)(update)
    server.implements(contract.update_by_identifier)(update_by_identifier)
    server.implements(contract.delete_by_uid)(delete_by_uid)
    server.implements(contract.delete_by_identifier)(delete_by_identifier)


def create_account(call: Call, req: contract.CreateAccount) -> Profile:
    if not call.raw.body.strip():
        raise e.BadPostBody("The body is empty.")
    return _answer(create(call, req), req.fields_)


def update(call: Call, req: contract.UpdateAccount) -> Profile:
    _refuse_empty(call)
    return _answer(change(call, accounts.known(call, req.uid), req, req), req.fields_)


def update_by_identifier(call: Call, req: contract.UpdateIdentified) -> Profile:
    _refuse_empty(call)
    account = accounts.addressed(call, email=req.email, username=req.username, phone=req.phone)
    return _answer(change(call, account, req, None), req.fields_)


def delete_by_uid(call: Call, req: contract.DeleteAccountByUid) -> contract.AccountDeleted:
    return _delete(call, accounts.known(call, req.uid), req.is_silent)


def delete_by_identifier(call: Call, req: contract.DeleteAccount) -> contract.AccountDeleted:
    if not (req.email or req.username or req.phone):
        raise e.EmailMissing
    account = accounts.addressed(call, email=req.email, username=req.username, phone=req.phone)
    return _delete(call, account, req.is_silent)


def _delete(call: Call, account: Account, is_silent: bool) -> contract.AccountDeleted:
    """Nothing of the account stays but the audit trail: a later account of the same id inherits nothing."""
    removal.rows_of_account(call.work, account.uid)
    events.emit(call, "DeleteAccount", account, is_silent)
    return contract.AccountDeleted()


def _refuse_empty(call: Call) -> None:
    if not call.raw.body.strip():
        raise e.BadPutBody("The body is empty.")


def _answer(account: Account, fields: str | None) -> Profile:
    return Profile.of(accounts.project(accounts.profile_of(account), fields))
