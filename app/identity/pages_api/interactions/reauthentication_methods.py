"""The methods by which a signed-in account can reauthenticate, for a step that requires it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.contract import errors
from app.contract.accounts.models import (
    CONNECTION_METHOD,
    ORGANIZATION_TITLE,
    PASSKEY_METHOD,
    PASSWORD_METHOD,
    ReauthenticationOptions,
    organization_method_key,
)
from app.contract.second_factors.challenge import FactorKind
from app.contract.steps import LoginStep, RegisterStep, StepResponse
from app.identity.authentication.federation import offered_connections
from app.identity.authentication.federation.offered_connections import OfferedConnection
from app.identity.authentication.passwordless import lookup, methods
from app.identity.authentication.passwordless.methods import SMS
from app.identity.authentication.sign_in import allowed_methods
from app.identity.credentials.ldap import ldap_directories
from app.identity.credentials.passkeys import passkey_store
from app.identity.credentials.second_factors import second_factors
from app.identity.directory.accounts import account_store, linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import sign_in_methods
from app.identity.directory.organizations.sign_in_methods import AllowedMethods
from app.identity.platform.context import Context

_METHODS: Final = {
    PASSWORD_METHOD: sign_in_methods.PASSWORD,
    PASSKEY_METHOD: sign_in_methods.PASSKEY,
    SMS: sign_in_methods.SMS,
}
"""The methods that organizations accept by the keys of those on pages; all others are by email."""


def with_methods(context: Context, response: StepResponse) -> StepResponse:
    """Return a step that requires a reauthentication with the account's methods, and the identifier of each.

    Only a browser with the account's session gets them.
    """
    form = response.step
    if not isinstance(form, LoginStep | RegisterStep) or form.reauthentication is None:
        return response
    person = form.reauthentication.person
    account = account_store.by_uid(context, person.uid)
    if account is None:
        return response
    options = ReauthenticationOptions(person=person, methods=_methods(context, account))
    return response.model_copy(update={"step": form.model_copy(update={"reauthentication": options})})


def confirmation_methods(context: Context, account: Account, email: str) -> dict[str, str]:
    """Return the methods by which the owner of a verified address can sign in, each with this address.

    They name nothing else of the account: the person who asks has verified no more than the mailbox.
    """
    found = _methods(context, account, email)
    return {key: email if name == email else "" for key, name in found.items()}


def _methods(context: Context, account: Account, verified_email: str | None = None) -> dict[str, str]:
    """Return the account's methods, each with the identifier that it uses.

    Args:
        verified_email: the address with which a person who is not signed in signs in; connections that cannot reauthenticate count,
            too. None: the signed-in account reauthenticates.
    """
    available = {}
    is_again = verified_email is None
    name = _login_name(context, account) if is_again else verified_email
    if name and ldap_directories.has_password(context, account):
        available[PASSWORD_METHOD] = name
    if context.tenant.settings.passkeys and passkey_store.by_account(context, account.uid):
        available[PASSKEY_METHOD] = ""
    binding = allowed_methods.binding_for(context, account)
    emails = {identity.provider: identity.email or "" for identity in linked_identities.of(account)}
    emails |= {item.connection_id: account.email or "" for item in binding.connections} if binding is not None else {}
    reauthenticating = (
        (
            connection.name
            for connection in offered_connections.active_connections(context)
            if connection.can_reauthenticate or not is_again
        )
        if emails
        else ()
    )
    available |= {f"{CONNECTION_METHOD}{name}": emails[name] for name in reauthenticating if name in emails}
    available |= _of_organizations(context, emails, verified_email)
    for method in methods.enabled_methods(context):
        names = (account.phone,) if method == SMS else (name, account.email)
        identifier = next((text for text in names if text and _resolves_to(context, text, method, account)), None)
        if identifier is not None and _may_begin(context, account, method):
            available[method] = identifier
    return {key: text for key, text in available.items() if binding is None or _is_accepted(binding, key)}


def _is_accepted(binding: AllowedMethods, key: str) -> bool:
    """Return whether the organizations of the account accept a method; the others would be refused once they are verified."""
    if not key.startswith(CONNECTION_METHOD):
        return binding.accepts(_METHODS.get(key, sign_in_methods.EMAIL), "")
    provider = key.removeprefix(CONNECTION_METHOD).partition(ORGANIZATION_TITLE)[0]
    return binding.accepts(sign_in_methods.CONNECTION, provider)


def _of_organizations(context: Context, emails: Mapping[str, str], verified_email: str | None) -> dict[str, str]:
    """Return the keys of the organizations' connections among these, with the address at each. `verified_email` as above."""
    keys: dict[str, str] = {}
    for name in filter(offered_connections.is_of_organization, emails):
        if offered_connections.is_active(context, name):
            connection = offered_connections.find_any(context, name)
            if connection.can_reauthenticate or verified_email is not None:
                title = (
                    connection.title if verified_email is None else _public_title(context, connection, verified_email)
                )
                keys[organization_method_key(name, title)] = emails[name]
    return keys


def _public_title(context: Context, connection: OfferedConnection, email: str) -> str:
    """Return the title for a person who has verified no more than a mailbox; empty where its domain is not the organization's, so that
    the page does not tell where the account belongs.
    """
    from app.identity.directory.organizations.connections import sign_in_connections  # noqa: PLC0415 - few tenants have any

    is_known = sign_in_connections.owns_email(context, connection.org_id, email)
    return connection.public_title if is_known else ""


def _login_name(context: Context, account: Account) -> str | None:
    """Return an identifier of the account that the tenant's sign-in accepts."""
    phone = account.phone if account.phone_verified else None
    names = {"email": account.email, "username": account.username, "phone": phone}
    return next((name for kind in context.tenant.settings.login_kinds if (name := names[kind])), None)


def _resolves_to(context: Context, name: str, method: str, account: Account) -> bool:
    _, reached, _ = lookup.resolve(context, name, method)
    return reached is not None and reached.uid == account.uid


def _may_begin(context: Context, account: Account, method: str) -> bool:
    """Return whether a sign-in may begin with the method; not if it is the account's only second factor."""
    try:
        second_factors.factor_required_by_settings(
            context, account, FactorKind.SMS if method == SMS else FactorKind.EMAIL, is_reauthentication=True
        )
    except errors.TwoFactorOn:
        return False
    return True
