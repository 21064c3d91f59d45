"""Changes of an account's email addresses by its owner or the tenant's servers: what is refused, and how they are stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from app.contract import errors
from app.identity.directory.accounts import account_store, identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.email_list import MAX_EMAILS, PRIMARY, EmailAddress
from app.identity.platform.context import Context


def lock(context: Context, account: Account) -> Account:
    """Lock the account and return it. Raises NotAuthenticated where it was deleted meanwhile."""
    fresh = account_store.lock(context, account.uid)
    if fresh is None:
        raise errors.NotAuthenticated
    return fresh


def refuse_addition(context: Context, account: Account, kind: str, form: str) -> None:
    """Refuse another address of this type.

    Raises:
        EmailTypeMissing.
        EmailActionRefused: there is a primary address already.
        EmailNotAddable: the account has an address that is not verified yet.
        EmailUpdateRefused: the account has the maximum number of addresses.
    """
    if not kind.strip():
        raise errors.EmailTypeMissing
    if account.email and kind.strip().lower() == PRIMARY:
        raise errors.EmailActionRefused
    if account.email and not account.email_verified and context.tenant.settings.email_verification != "disabled":
        raise errors.EmailNotAddable
    if len(account.email_list.others(form)) >= MAX_EMAILS:
        raise errors.EmailUpdateRefused


def add_pending(context: Context, account: Account, kind: str, email: str) -> None:
    """Add an address that counts once it is verified."""
    before = account.email_list
    after = before.with_pending(EmailAddress(identifiers.display_email(email), kind.strip()))
    account_store.change(context, account.uid, after.changes_since(before))


def store_in_order(
    context: Context, fresh: Account, items: Iterable[EmailAddress], *, verified: Collection[str] = ()
) -> Account:
    """Store the addresses as `EmailList.ordered` says. Raises store.IdentifierTaken."""
    before = fresh.email_list
    after = before.ordered(items, verified=verified)
    account_store.change_email_identifiers(context, fresh.uid, before, after)
    values = after.columns() if after.present else after.changes_since(before)
    return account_store.change(context, fresh.uid, values) or fresh
