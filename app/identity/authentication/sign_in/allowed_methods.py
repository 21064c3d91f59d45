"""Refuses sign-ins by methods that an account's organizations do not allow (decision 0195)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.contract import errors
from app.contract.organizations.settings import MethodLimit
from app.identity.authentication.federation import federated_sign_in, offered_connections
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import FEDERATED, BrowserSession
from app.identity.credentials.ldap import ldap_directories
from app.identity.credentials.passkeys import passkey_store
from app.identity.directory.accounts import account_store, linked_identities
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


def binding_for(context: Context, account: Account) -> AllowedMethods | None:
    """Return the methods that the account must sign in with; None where no organization limits it, or it can use none of them."""
    allowed = sign_in_methods.of_account(context, account)
    return allowed if allowed is not None and _can_use_any(context, account, allowed) else None


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
    return _error(context, allowed, org_id, name)


def refusal_in(
    context: Context, account: Account, org_id: str, session: BrowserSession
) -> errors.LoginNotAllowed | None:
    """Return the refusal of a session that does not come from the connection which an organization requires.

    None for any other organization, and for an account that can use no allowed method. A member of two such organizations signs in
    by either connection; neither opens the other organization. The audit gets no entry, because the session stays valid for the
    other organization.
    """
    everywhere = sign_in_methods.of_account(context, account)
    allowed = everywhere.within(org_id) if everywhere is not None else None
    if allowed is None or not allowed.connections:
        return None
    method, own = method_of(session.methods) if session.methods else _UNKNOWN, session.connection_id
    is_accepted = allowed.accepts(method, own) or (own and allowed.accepts(sign_in_methods.CONNECTION, own))
    if is_accepted or not _can_use_any(context, account, allowed):
        return None
    return _error(context, allowed, *allowed.by_organization[0][:2])


def refuse_management(context: Context, account: Account, org_id: str) -> None:
    """Refuse to manage an organization from a session that does not come from the connection which the organization requires.

    Raises UnknownOrganization, whose `Data` is a `MethodLimit` with the address that signs in by the connection.
    """
    everywhere = sign_in_methods.of_account(context, account)
    if everywhere is None or not everywhere.connections:
        return
    session = sessions.current_of(context, account.uid)
    refusal = refusal_in(context, account, org_id, session) if session is not None else None
    if session is None or refusal is not None:
        raise errors.UnknownOrganization(data=refusal.data if refusal is not None else None)


def _error(context: Context, allowed: AllowedMethods, org_id: str, name: str) -> errors.LoginNotAllowed:
    """Return the error of an organization, with the methods that the account may use there."""
    limit = MethodLimit.model_validate({"organization": name, "allowed_methods": allowed.methods})
    if own := [item for item in allowed.connections if item.org_id == org_id]:
        from app.identity.directory.organizations.connections import sign_in_connections  # noqa: PLC0415 - few require it

        options = sign_in_connections.options(context, own)
        first = {"connection": options[0].connection, "login_url": options[0].login_url}
        limit = limit.model_copy(update=first | ({"connections": options} if len(options) > 1 else {}))
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
    """Return whether the account can sign in by a connection of its organizations: it has an identity there, or has or had a verified
    address of their domains, because one that takes a private address must not leave the requirement by it.
    """
    names = {item.connection_id for item in allowed.connections}
    if any(identity.provider in names for identity in linked_identities.of(account)):
        return True
    from app.identity.directory.organizations.connections import sign_in_connections  # noqa: PLC0415 - few require it

    domains = account.email_list.verified_domains | account_store.former_domains(context, account.uid)
    return sign_in_connections.has_any_verified(context, {item.org_id for item in allowed.connections}, domains)


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
    sign_in_methods.PASSWORD: ldap_directories.has_password,
    sign_in_methods.PASSKEY: _has_passkey,
    sign_in_methods.EMAIL: lambda _, account: bool(account.email),
    sign_in_methods.SMS: lambda _, account: bool(account.phone and account.phone_verified),
    sign_in_methods.CONNECTION: _has_connection,
}
