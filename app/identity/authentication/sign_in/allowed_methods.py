"""Refuses sign-ins by methods that an account's organizations do not allow (decision 0195)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.contract import errors
from app.contract.organizations.settings import MethodLimit
from app.identity.authentication.federation import federated_sign_in, offered_connections
from app.identity.authentication.sign_in.sessions.sessions import FEDERATED
from app.identity.credentials.passkeys import passkey_store
from app.identity.directory.accounts import linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import sign_in_methods
from app.identity.directory.organizations.sign_in_methods import AllowedMethods
from app.identity.platform.context import Context

_BY_AMR: Final = {
    "pwd": sign_in_methods.PASSWORD,
    "otp": sign_in_methods.EMAIL,
    "sms": sign_in_methods.SMS,
    "pin": sign_in_methods.PIN,
    "hwk": sign_in_methods.PASSKEY,
    "swk": sign_in_methods.PASSKEY,
    FEDERATED: sign_in_methods.CONNECTION,
    "kba": "security answers",  # no organization can allow them
}

_UNKNOWN: Final = "unknown"
"""The method of a sign-in taken over from a token that does not say its own; no organization can allow it."""


def method_of(amr: Sequence[str]) -> str:
    """Return the method of a sign-in by its first `amr` value.

    Raises ValueError for a value that no method has, so that a new method cannot pass as an allowed one.
    """
    method = _BY_AMR.get(amr[0]) if amr else None
    if method is None:
        raise ValueError(f"no sign-in method has the amr {list(amr)}")
    return method


def refusal(
    context: Context, account: Account, amr: Sequence[str], *, provider: str = "", is_again: bool = False
) -> errors.LoginNotAllowed | None:
    """Return the refusal of a sign-in by a method that an organization of the account does not allow; None if all allow it.

    An account that has set up none of the allowed methods may sign in by another, to set one up.

    Args:
        provider: the connection of a sign-in at a provider. Where an organization has one of its own, no other is accepted.
        is_again: an earlier request of this sign-in checked it, and recorded that the method was tolerated.

    The error's `Data` is a `MethodLimit`. Call it only after the first factor was verified.
    """
    allowed = sign_in_methods.of_account(context, account)
    method = method_of(amr) if amr else _UNKNOWN
    if allowed is None or allowed.accepts(method, provider) or (is_again and method in allowed.methods):
        return None
    org_id, name = allowed.refusing(method)
    if not _can_use_any(context, account, allowed):
        if not is_again:
            context.audit.record("sign_in.method_tolerated", uid=account.uid, method=method, org_id=org_id)
        return None
    context.audit.record("sign_in.refused", uid=account.uid, reason="method", method=method, org_id=org_id)
    limit = MethodLimit.model_validate({"organization": name, "allowed_methods": allowed.methods})
    if own := next((item for item in allowed.connections if item.org_id == org_id), None):
        login_url = f"{context.issuer}/oauth/sp/{own.address_key}/login"
        limit = limit.model_copy(update={"connection": own.connection_id, "login_url": login_url})
    sentence = f"{name} requires another sign-in method of its members: {', '.join(allowed.methods)}."
    return errors.LoginNotAllowed(sentence, data=limit.model_dump(by_alias=True, exclude_none=True))


def needs_passkey(context: Context, account: Account, amr: Sequence[str]) -> bool:
    """Return whether the account was tolerated with another method, and a passkey would be allowed."""
    allowed = sign_in_methods.of_account(context, account)
    if allowed is None or sign_in_methods.PASSKEY not in allowed.methods or method_of(amr) in allowed.methods:
        return False
    return not _has_passkey(context, account)


def _can_use_any(context: Context, account: Account, allowed: AllowedMethods) -> bool:
    """Return whether the account has set up one of the methods; a PIN only renews a session."""
    if allowed.connections and _leads_to(context, account, allowed):
        return True
    methods = {*allowed.methods} - ({sign_in_methods.CONNECTION} if allowed.connections else set())
    return any(_CAN_USE[method](context, account) for method in methods if method in _CAN_USE)


def _leads_to(context: Context, account: Account, allowed: AllowedMethods) -> bool:
    """Return whether the account can sign in by a connection of its organizations: it has an identity there, or a verified address
    of their domains.
    """
    names = {item.connection_id for item in allowed.connections}
    if any(identity.provider in names for identity in linked_identities.of(account)):
        return True
    from app.identity.directory.organizations.connections import sign_in_connections  # noqa: PLC0415 - few require it

    emails = [item.value for item in account.email_list.verified]
    return any(
        sign_in_connections.owns_email(context, org_id, email)
        for org_id in {item.org_id for item in allowed.connections}
        for email in emails
    )


def _has_connection(context: Context, account: Account) -> bool:
    """Return whether the account has an identity of an active connection, or its verified address leads one to it."""
    active = set(federated_sign_in.active_names(context))
    if any(identity.provider in active for identity in linked_identities.of(account)):
        return True
    return account.email_verified and any(
        connection.trusts_email for connection in offered_connections.active_connections(context)
    )


def _has_passkey(context: Context, account: Account) -> bool:
    return any(passkey_store.signs_in_alone(passkey) for passkey in passkey_store.by_account(context, account.uid))


_CAN_USE: Final = {
    sign_in_methods.PASSWORD: lambda _, account: account.password_hash is not None,
    sign_in_methods.PASSKEY: _has_passkey,
    sign_in_methods.EMAIL: lambda _, account: bool(account.email),
    sign_in_methods.SMS: lambda _, account: bool(account.phone and account.phone_verified),
    sign_in_methods.CONNECTION: _has_connection,
}
