"""The facts that conditions compare, of past sign-ins.

A fact that the audit log doesn't tell is unknown, which is not the same as absent: a comparison with an absent one is false, one
with an unknown one is undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from app.contract.workflows.expressions import Expression, Junction, Not
from app.identity.administration.workflows.rehearsal.past_sign_ins import PastSignIn
from app.identity.authentication.sign_in import allowed_methods
from app.identity.authentication.sign_in.authentication import MFA
from app.identity.authentication.sign_in.sessions.sessions import FEDERATED
from app.identity.authentication.sign_in.workflows.facts import login_facts
from app.identity.credentials.passkeys import passkey_store
from app.identity.credentials.second_factors.second_factors import SUPPLEMENTARY
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import EMAIL, PHONE
from app.identity.platform.context import Context

UNKNOWN: Final = object()
Reader = Callable[[Context, PastSignIn], object]


def decide(condition: Expression, facts: Mapping[str, object]) -> bool | None:
    """Return whether a condition holds; None where that depends on a fact that is UNKNOWN."""
    if isinstance(condition, Not):
        inner = decide(condition.part, facts)
        return None if inner is None else not inner
    if isinstance(condition, Junction):
        parts = [decide(part, facts) for part in condition.parts]
        decisive = not condition.needs_all
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if any(facts[name] is UNKNOWN for name in condition.names()):
        return None
    return condition.is_true(facts)


def methods_of(amr: tuple[str, ...] | None) -> object:
    """Return methods as conditions name them."""
    if amr is None:
        return UNKNOWN
    try:
        return (allowed_methods.method_of(amr), *((MFA,) if MFA in amr else ()))
    except ValueError:  # of a later version
        return UNKNOWN


def _stored(name: str, absent: object = None) -> Reader:
    """Return the reader of a fact that the entry keeps under a name."""
    return lambda _, past: past.facts.get(name, absent) if past.has_facts else UNKNOWN


def _contains(name: str, value: str) -> Reader:
    return lambda _, past: value in past.facts.get(name, ()) if past.has_facts else UNKNOWN


def _now(read: Callable[[Account], object]) -> Reader:
    """Return the reader of a fact of the account as it is now."""
    return lambda _, past: read(past.account) if past.account is not None else UNKNOWN


def _enrolled(is_meant: Callable[[str], bool]) -> Reader:
    return lambda _, past: any(map(is_meant, past.kinds)) if past.account is not None else UNKNOWN


def _domain(account: Account) -> str | None:
    return account.email.rpartition("@")[2].lower() if account.email else None


def _age(_: Context, past: PastSignIn) -> object:
    return (past.at - past.account.created_at).days if past.account is not None else UNKNOWN


def _provider(_: Context, past: PastSignIn) -> object:
    """Return the connection; of a sign-in at a provider, the entry need not have it."""
    if past.methods is None:
        return UNKNOWN
    return past.facts.get("provider") or (UNKNOWN if past.methods[0] == FEDERATED else None)


def _client_id(context: Context, past: PastSignIn) -> object:
    if past.entry.client_id:
        return past.entry.client_id
    name = past.facts.get("application")
    if not name:
        return None if past.has_facts else UNKNOWN
    application = context.application(name=name)
    return application.client_id if application is not None else UNKNOWN


def _organization(_: Context, past: PastSignIn) -> object:
    if not past.has_facts or past.facts.get(login_facts.ORGANIZATION_NAMED):
        return UNKNOWN
    return past.facts.get("organization")


def _country(context: Context, past: PastSignIn) -> object:
    return context.services.locations.place_of(past.entry.address or "").country or None


READERS: Final[Mapping[str, Reader]] = {
    "account.uid": lambda _, past: past.uid,
    "account.email": _now(lambda account: (account.email or "").lower() or None),
    "account.email_domain": _now(_domain),
    "account.country": _now(lambda account: (account.profile.get("Country") or {}).get("Code")),
    "account.roles": _now(lambda account: tuple(account.roles or ())),
    "account.is_email_verified": _contains("verified", EMAIL),
    "account.is_phone_verified": _contains("verified", PHONE),
    "account.created_days_ago": _age,
    "account.logins": _stored("logins"),
    "account.has_password": _stored("has_password", absent=False),
    "account.has_passkey": _enrolled(lambda kind: kind in passkey_store.KINDS),
    "account.has_second_factor": _enrolled(lambda kind: kind not in SUPPLEMENTARY and kind != passkey_store.SIGN_IN),
    "sign_in.methods": lambda _, past: methods_of(past.methods),
    "sign_in.provider": _provider,
    "sign_in.is_registration": _stored("registered", absent=False),
    "sign_in.is_refresh": lambda _, __: False,
    **{
        f"sign_in.is_new_{signal}": _contains("new", signal)
        for signal in ("device", "browser", "city", "country", "ip")
    },
    "request.ip": lambda _, past: past.entry.address or None,
    "request.country": _country,
    "request.client_id": _client_id,
    "request.application": _stored("application"),
    "request.scopes": _stored("scopes", absent=()),
    "request.language": _stored("language"),
    "request.hour_utc": lambda _, past: past.at.hour,
    "organization.id": _organization,
}
"""How each fact is read."""
OF_CREDENTIALS: Final = frozenset({"account.has_passkey", "account.has_second_factor"})
AS_NOW: Final = OF_CREDENTIALS | {"account.email", "account.email_domain", "account.country", "account.roles"}
"""The facts that are read from the account as it is now."""
OF_ACCOUNT: Final = AS_NOW | {"account.created_days_ago"}
