"""Operations on the signed-in account's passkeys."""

from __future__ import annotations

from app.contract import errors
from app.contract.passkeys import account_passkey_operations
from app.contract.passkeys.models import ListedPasskeys, OwnRegisterBegin, PublicKey
from app.contract.shared_parameters import AccessTokenQuery
from app.contract.shared_responses import Deleted
from app.identity.authentication.sign_in.passkeys import passkey_management
from app.identity.authentication.sign_in.passkeys.passkey_sign_in import require_enabled
from app.identity.credentials.passkeys import passkey_store
from app.identity.directory.accounts import accounts
from app.identity.platform.context import Context


@account_passkey_operations.begin.implements
def begin(context: Context, req: AccessTokenQuery) -> OwnRegisterBegin:
    require_enabled(context)
    options = passkey_management.begin_adding(context, accounts.current(context))
    return OwnRegisterBegin(register_begin_credential=PublicKey(publicKey=options), publicKey=options)


@account_passkey_operations.add.implements
def add(context: Context, req: account_passkey_operations.AddPasskey) -> ListedPasskeys:
    require_enabled(context)
    account = accounts.current(context)
    passkey_management.add(context, account, req.credential)
    return list_passkeys(context, account.uid)


@account_passkey_operations.listed.implements
def listed(context: Context, req: AccessTokenQuery) -> ListedPasskeys:
    require_enabled(context)
    return require_passkeys(context, accounts.current(context).uid)


@account_passkey_operations.remove.implements
def remove(context: Context, req: account_passkey_operations.RemoveOwnPasskey) -> Deleted:
    passkey_management.remove(context, accounts.current(context), req.passkey_id)
    return Deleted()


def list_passkeys(context: Context, uid: str) -> ListedPasskeys:
    """Return an account's passkeys."""
    return ListedPasskeys(
        credentials=[passkey_store.to_listed(item) for item in passkey_store.by_account(context, uid)]
    )


def require_passkeys(context: Context, uid: str) -> ListedPasskeys:
    """Return an account's passkeys; raises NoPasskey where there are none."""
    found = list_passkeys(context, uid)
    if not found.credentials:
        raise errors.NoPasskey
    return found
