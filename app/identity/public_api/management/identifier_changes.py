"""Changes of an account's identifiers by the tenant's servers: the rules."""

from __future__ import annotations

from typing import Any

from app.contract import errors
from app.contract.messages.models import MailKind
from app.identity.authentication.verification import email_verification, phone_verification
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials import notifications
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.directory.accounts import account_store, identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.changes import email_list
from app.identity.directory.accounts.identifiers import EMAIL, PHONE
from app.identity.directory.accounts.input_checks import MAX_EMAILS, PRIMARY, Emails, taken
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.messaging.messaging import SmsOptions
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.use_cases.accounts import change_emails

Entry = dict[str, Any]


def set_emails(context: Context, uid: str, provided: Emails, *, suppress_webhook: bool) -> Account:
    """Set addresses by their type, all verified; an address that goes gets a notice, and so does the primary one.

    Raises UnknownUid, EmailUpdateRefused, and the error of an address that another account has.
    """
    before = lock(context, uid)
    entries = _merged(before.emails, provided)
    if len(entries) > MAX_EMAILS:
        raise errors.EmailUpdateRefused
    try:
        after = email_list.store_in_order(context, before, entries, verified=provided.forms)
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
    form = identifiers.normalize(EMAIL, before.email)
    account_store.set_verified(context, before.uid, EMAIL, form, False)
    entries = [{**entry, "verified": False} if _form(entry) == form else entry for entry in before.emails]
    after = _changed(context, before, {"emails": entries, "email_verified": False})
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


def _form(entry: Entry) -> str | None:
    return identifiers.normalize_email(entry["Value"])


def _merged(stored: list[Entry], provided: Emails) -> list[Entry]:
    """Return the addresses of the account after the change: a given one takes the place of the first of its type."""
    new = dict(zip(provided.forms, provided.entries, strict=True))
    types = {entry["Type"].lower() for entry in provided.entries}
    merged: list[Entry] = []
    for entry in stored:
        if str(entry["Type"]).lower() in types:
            of_type = [form for form, item in new.items() if item["Type"].lower() == str(entry["Type"]).lower()]
            merged += [new.pop(form) for form in of_type]
        elif _form(entry) not in provided.forms:
            merged.append(entry)
    merged += new.values()
    return sorted(merged, key=lambda entry: str(entry["Type"]).lower() != PRIMARY)


def _end_tokens(context: Context, before: Account, after: Account) -> None:
    """Close links and codes of the addresses that the account had: they are gone, or verified without them."""
    still_pending = {_form(entry) for entry in after.emails if entry.get("pending")}
    for form in {_form(entry) for entry in (*before.emails, *after.emails)} - still_pending:
        one_time_tokens.close(context, after.uid, subject=form)
    change_emails.end_links(context, after.uid)


def _notify(context: Context, before: Account, after: Account) -> None:
    """Notify the former primary address of each change, and each removed address of its removal.

    The notices carry no alert link: the tenant's server may take an account away from a stolen mailbox.
    """
    stored = {_form(entry): entry["Value"] for entry in before.emails if not entry.get("pending")}
    now = {_form(entry): entry["Value"] for entry in after.emails if not entry.get("pending")}
    changes = [(stored[form], "removed") for form in stored.keys() - now.keys()]
    changes += [(now[form], "added") for form in now.keys() - stored.keys()]
    for email, change in sorted(changes):
        context.audit.record(f"email.{change}", uid=after.uid)
        for to in {before.email, email} if change == "removed" else {before.email}:
            notifications.notify(context, MailKind.EMAIL_CHANGED, to, after, before=before, email=email, change=change)
