"""Who is signed in and is asked to prove it once more: by which ways they can, and by which name each way knows them."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.hub import CONNECTION_METHOD, PASSKEY_METHOD, PASSWORD_METHOD, Next
from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.federation import service as connections
from app.identity.authentication.passwordless import methods
from app.identity.authentication.passwordless.methods import SMS
from app.identity.credentials.passkeys import store as passkeys
from app.identity.credentials.second_factors import service as second_factors
from app.identity.directory.accounts import linked_identities
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context


def told(context: Context, step: Next) -> Next:
    """Return the step with the ways of its person. Only whoever holds their session is told."""
    account = accounts.by_uid(context, step.person.uid) if step.person else None
    return step.model_copy(update={"ways": _ways(context, account)}) if account is not None else step


def _ways(context: Context, account: Account) -> dict[str, str]:
    found = {}
    name = _login_name(context, account)
    if account.password_hash is not None and name:
        found[PASSWORD_METHOD] = name
    if context.tenant.settings.passkeys and passkeys.by_account(context, account.uid):
        found[PASSKEY_METHOD] = ""
    at = {one.provider: one.email or "" for one in linked_identities.of(account)}
    anew = (one.name for one in connections.active_connections(context) if one.can_reauthenticate) if at else ()
    found |= {f"{CONNECTION_METHOD}{name}": at[name] for name in anew if name in at}
    for way in methods.enabled_methods(context):
        names = (account.phone,) if way == SMS else (name, account.email)
        known = next((one for one in names if one and _reaches(context, one, way, account)), None)
        if known is not None and _may_begin(context, account, way):
            found[way] = known
    return found


def _login_name(context: Context, account: Account) -> str | None:
    """Return a name of the account that the tenant's sign-in takes."""
    phone = account.phone if account.phone_verified else None
    names = {"email": account.email, "username": account.username, "phone": phone}
    return next((name for kind in context.tenant.settings.login_kinds if (name := names[kind])), None)


def _reaches(context: Context, name: str, way: str, account: Account) -> bool:
    _, reached, _ = methods.resolve(context, name, way)
    return reached is not None and reached.uid == account.uid


def _may_begin(context: Context, account: Account, way: str) -> bool:
    """Return whether a sign-in may begin by it: not where the only second factor is what it would prove."""
    try:
        second_factors.required_factor(
            context, account, FactorKind.SMS if way == SMS else FactorKind.EMAIL, is_reauthentication=True
        )
    except e.TwoFactorOn:
        return False
    return True
