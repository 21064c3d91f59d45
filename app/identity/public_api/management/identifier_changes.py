"""Changes of an account's identifiers by the tenant's servers: the rules."""

from __future__ import annotations

from typing import Any

from app.contract import errors
from app.contract.messages.models import MailKind
from app.identity.authentication.verification import email_verification, phone_verification
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials import notifications
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.changes import email_changes
from app.identity.directory.accounts.email_list import MAX_EMAILS, EmailAddress, EmailList
from app.identity.directory.accounts.identifiers import PHONE
from app.identity.directory.accounts.input_checks import taken
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.messaging.message import MessageFacts
from app.identity.messaging.messaging import SmsOptions
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.use_cases.accounts import change_emails


def set_emails(context: Context, uid: str, provided: EmailList, *, suppress_webhook: bool) -> Account:
    """Set addresses by their type, all verified; an address that goes gets a notice, and so does the primary one.

    Raises UnknownUid, EmailUpdateRefused, and the error of an address that another account has.
    """
    before = lock(context, uid)
    merged = _merged(before.email_list, provided)
    if len(merged) > MAX_EMAILS:
        raise errors.EmailUpdateRefused
    try:
        after = email_changes.store_in_order(context, before, merged, verified=provided.forms)
    except account_store.IdentifierTaken as conflict:
        raise taken(conflict) from None
    for form in provided.forms:
        pending_accounts.remove_pending(context, form)
    _end_tokens(context, before, after)
    _notify(context, before, after)
    events.emit(context, "UpdateProfile", after, suppress_webhook)
    return after


def invalidate_email(context: Context, uid: str, options: VerificationOptions, *, suppress_webhook: bool) -> None:
    """Mark the primary address unverified, and mail a verification. Raises UnknownUid, NoEmailToInvalidate, EmailUnverifiedBefore."""
    before = lock(context, uid)
    if not before.email:
        raise errors.NoEmailToInvalidate
    if not before.email_verified:
        raise errors.EmailUnverifiedBefore
    emails = before.email_list.with_primary_verified(is_verified=False)
    account_store.change_email_identifiers(context, before.uid, before.email_list, emails)
    after = _changed(context, before, emails.changes_since(before.email_list))
    email_verification.send(context, after, options)
    context.audit.record("email.invalidated", uid=after.uid)
    events.emit(context, "UpdateProfile", after, suppress_webhook)


def invalidate_phone(context: Context, uid: str, options: SmsOptions, *, suppress_webhook: bool) -> None:
    """Mark the number unverified, and text a code. Raises UnknownUid, NoPhoneToInvalidate, PhoneUnverifiedBefore."""
    before = lock(context, uid)
    if not before.phone:
        raise errors.NoPhoneToInvalidate
    if not before.phone_verified:
        raise errors.PhoneUnverifiedBefore
    account_store.set_verified(context, before.uid, PHONE, before.phone, False)
    after = _changed(context, before, {"phone_verified": False})
    phone_verification.send(context, after.uid, before.phone, after, options)
    context.audit.record("phone.invalidated", uid=after.uid)
    events.emit(context, "UpdateProfile", after, suppress_webhook)


def lock(context: Context, uid: str) -> Account:
    """Lock and return the account. Raises UnknownUid."""
    account = account_store.lock(context, uid)
    if account is None:
        raise errors.UnknownUid
    return account


def _changed(context: Context, account: Account, values: dict[str, Any]) -> Account:
    return account_store.change(context, account.uid, values) or account


def _merged(stored: EmailList, provided: EmailList) -> list[EmailAddress]:
    """Return the addresses of the account after the change: a given one takes the place of the first of its type."""
    new = {item.form: item for item in provided}
    types = {item.type.lower() for item in provided}
    merged: list[EmailAddress] = []
    for item in stored:
        if item.type.lower() in types:
            merged += [new.pop(form) for form, given in list(new.items()) if given.type.lower() == item.type.lower()]
        elif item.form not in provided.forms:
            merged.append(item)
    merged += new.values()
    return sorted(merged, key=lambda item: not item.is_of_primary_type)


def _end_tokens(context: Context, before: Account, after: Account) -> None:
    """Close links and codes of the addresses that the account had: they are gone, or verified without them."""
    still_pending = {item.form for item in after.email_list.pending}
    for form in {*before.email_list.forms, *after.email_list.forms} - still_pending:
        one_time_tokens.close(context, after.uid, subject=form)
    change_emails.end_links(context, after.uid)


def _notify(context: Context, before: Account, after: Account) -> None:
    """Notify the former primary address of each change, and each removed address of its removal.

    The notices carry no alert link: the tenant's server may take an account away from a stolen mailbox.
    """
    stored = {item.form: item.value for item in before.email_list.present}
    now = {item.form: item.value for item in after.email_list.present}
    changes = [(stored[form], "removed") for form in stored.keys() - now.keys()]
    changes += [(now[form], "added") for form in now.keys() - stored.keys()]
    for email, change in sorted(changes):
        context.audit.record(f"email.{change}", uid=after.uid)
        for to in {before.email, email} if change == "removed" else {before.email}:
            facts = MessageFacts(email=email, change=change)
            notifications.notify(context, MailKind.EMAIL_CHANGED, to, after, facts, before=before)
