"""Finds the account of a recovery request, and decides whether it may get a message."""

from __future__ import annotations

from app.contract import errors
from app.identity.credentials.reset_messages import MAIL
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts import accounts, identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup, TypedIdentifier
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError


def hides_accounts(context: Context) -> bool:
    """Return whether responses hide which accounts exist: always on our pages, else as the tenant configured."""
    return context.visit is not None or context.tenant.settings.hide_unknown_accounts


def from_email_or_username(context: Context, email: str | None, username: str | None) -> AccountLookup:
    """Look up an email or a username.

    Raises:
        EmailOrUsernameMissing: neither.
        UsernameMissing, MalformedEmail: it is blank or malformed.
        BadParameter: both.
    """
    if email and username:
        raise errors.BadParameter("The username must not stand beside email: exactly one identifier is expected.")
    if email and not accounts.is_email(email):
        raise errors.MalformedEmail
    if email:
        return find(context, "email", email)
    if username is not None and not username.strip():
        raise errors.UsernameMissing
    if username is None:
        raise errors.EmailOrUsernameMissing
    return find(context, "username", username)


def from_phone(context: Context, phone: str | None) -> AccountLookup:
    """Look up a phone number; raises PhoneLoginOff where phone login is off, PhoneMissing without one, UnknownPhone if malformed."""
    if not context.tenant.settings.phone_login:
        raise errors.PhoneLoginOff
    if not phone:
        raise errors.PhoneMissing
    if identifiers.normalize_phone(phone) is None:
        raise errors.UnknownPhone
    return find(context, "phone", phone)


def find(context: Context, kind: str, value: str) -> AccountLookup:
    """Look up an identifier, hidden according to `hides_accounts`."""
    return account_lookup.find(context, TypedIdentifier(kind, value), is_hidden=hides_accounts(context))


def reachable_account(lookup: AccountLookup, by: str) -> Account | None:
    """Return the account that a recovery reaches by mail or SMS; None where it must look unknown.

    Raises, unless accounts are hidden:
        UnknownAccount: no account has the identifier.
        AccountBlocked: the account may not recover.
    """
    account = lookup.holder
    if not lookup.is_hidden:
        if account is None:
            raise errors.UnknownAccount
        refuse_closed(account)
        return account
    if account is None or is_closed(account):
        return None
    is_reachable = bool(account.email) if by == MAIL else account.phone_verified
    return account if is_reachable else None


def reachable_account_with_pin(
    lookup: AccountLookup, by: str, unknown: type[ApiError] = errors.UnknownAccount
) -> Account | None:
    """Return the account whose PIN can be reset by mail or SMS; None where it must look unknown.

    Raises, unless accounts are hidden:
        unknown: no account has the identifier.
        AccountBlocked, NoPin: the account may not recover, or has no PIN.
    """
    try:
        account = reachable_account(lookup, by)
    except errors.UnknownAccount:
        raise unknown from None
    if account is None or account.has_pin:
        return account
    if not lookup.is_hidden:
        raise errors.NoPin
    return None


def is_closed(account: Account) -> bool:
    """Return whether an account is blocked or deleted, and may not recover."""
    return account.is_blocked or account.is_deleted


def refuse_closed(account: Account) -> None:
    """Raise AccountBlocked for an account that may not recover."""
    if is_closed(account):
        raise errors.AccountBlocked


def refuse_foreign_token(context: Context, account: Account | None) -> None:
    """Raise NotAuthenticated where the request also contains an access token of another account."""
    access_token = context.raw.header_token() or context.raw.first("access_token")
    if access_token is None:
        return
    holder = tokens.find(context, access_token)
    if holder is None or holder.expires_at <= context.now or account is None or holder.uid != account.uid:
        raise errors.NotAuthenticated
