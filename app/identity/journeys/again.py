"""Who is signed in and is asked to prove it once more: by which ways they can, and by which name each way knows them."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.hub import CONNECTION_WAY, PASSKEY_WAY, PASSWORD_WAY, Next
from app.contract.second_factors.challenge import FactorKind
from app.identity.accounts import linked
from app.identity.accounts import service as accounts
from app.identity.accounts.account import Account
from app.identity.call import Call
from app.identity.connections import service as connections
from app.identity.passkeys import store as passkeys
from app.identity.passwordless import ways
from app.identity.passwordless.ways import SMS
from app.identity.second_factors import service as factors


def told(call: Call, step: Next) -> Next:
    """Return the step with the ways of its person. Only whoever holds their session is told."""
    account = accounts.by_uid(call, step.person.uid) if step.person else None
    return step.model_copy(update={"ways": _ways(call, account)}) if account is not None else step


def _ways(call: Call, account: Account) -> dict[str, str]:
    found = {}
    name = _login_name(call, account)
    if account.password_hash is not None and name:
        found[PASSWORD_WAY] = name
    if call.tenant.settings.passkeys and passkeys.of_account(call, account.uid):
        found[PASSKEY_WAY] = ""
    at = {one.provider: one.email or "" for one in linked.of(account)}
    anew = (one.name for one in connections.offered(call) if one.asks_anew) if at else ()
    found |= {f"{CONNECTION_WAY}{name}": at[name] for name in anew if name in at}
    for way in ways.offered(call):
        names = (account.phone,) if way == SMS else (name, account.email)
        known = next((one for one in names if one and _reaches(call, one, way, account)), None)
        if known is not None and _may_begin(call, account, way):
            found[way] = known
    return found


def _login_name(call: Call, account: Account) -> str | None:
    """Return a name of the account that the tenant's sign-in takes."""
    phone = account.phone if account.phone_verified else None
    names = {"email": account.email, "username": account.username, "phone": phone}
    return next((name for kind in call.tenant.settings.login_kinds if (name := names[kind])), None)


def _reaches(call: Call, name: str, way: str, account: Account) -> bool:
    _, reached, _ = ways.named(call, name, way)
    return reached is not None and reached.uid == account.uid


def _may_begin(call: Call, account: Account, way: str) -> bool:
    """Return whether a sign-in may begin by it: not where the only second factor is what it would prove."""
    try:
        factors.wanted(call, account, FactorKind.SMS if way == SMS else FactorKind.EMAIL, is_again=True)
    except e.TwoFactorOn:
        return False
    return True
