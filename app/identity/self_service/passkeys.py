"""The operations by which people keep their own passkeys (interface mfa.md rows M57-M60)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.groups import Deleted
from app.contract.passkeys import own as contract
from app.contract.passkeys.shapes import ListedPasskeys, OwnRegisterBegin, PublicKey
from app.contract.second_factors.own import OwnFactor
from app.identity.accounts import service as accounts
from app.identity.call import Call
from app.identity.passkeys import store
from app.identity.sign_in.passkeys import keeping
from app.identity.sign_in.passkeys.entering import refuse_off
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.begin)(begin)
    server.implements(contract.add)(add)
    server.implements(contract.listed)(listed)
    server.implements(contract.remove)(remove)


def begin(call: Call, req: OwnFactor) -> OwnRegisterBegin:  # noqa: ARG001 - the token names the account
    refuse_off(call)
    told = keeping.begin_adding(call, accounts.own(call))
    return OwnRegisterBegin(register_begin_credential=PublicKey(publicKey=told), publicKey=told)


def add(call: Call, req: contract.NewPasskey) -> ListedPasskeys:
    refuse_off(call)
    account = accounts.own(call)
    keeping.add(call, account, req.credential)
    return all_of(call, account.uid)


def listed(call: Call, req: OwnFactor) -> ListedPasskeys:  # noqa: ARG001 - as above
    refuse_off(call)
    return some_of(call, accounts.own(call).uid)


def remove(call: Call, req: contract.OwnPasskey) -> Deleted:
    keeping.remove(call, accounts.own(call), req.passkey_id)
    return Deleted()


def all_of(call: Call, uid: str) -> ListedPasskeys:
    """Return an account's passkeys."""
    return ListedPasskeys(credentials=[store.listed(one) for one in store.of_account(call, uid)])


def some_of(call: Call, uid: str) -> ListedPasskeys:
    """Return an account's passkeys; raises NoPasskey where there are none."""
    found = all_of(call, uid)
    if not found.credentials:
        raise e.NoPasskey
    return found


__all__ = ["all_of", "register", "some_of"]
