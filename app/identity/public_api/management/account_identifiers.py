"""The tenant's servers change an account's identifiers."""

from __future__ import annotations

from typing import Any

from app.contract import errors as e
from app.contract.accounts import identifiers as contract
from app.contract.messages.models import MailKind
from app.contract.profile import Profile
from app.contract.shared_responses import Posted
from app.identity.authentication.verification import phones
from app.identity.authentication.verification import service as verification
from app.identity.credentials import notifications
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.directory.accounts import identifiers, input_checks
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts import store as account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.changes import email_addresses
from app.identity.directory.accounts.identifiers import EMAIL, PHONE
from app.identity.directory.accounts.input_checks import MAX_EMAILS, PRIMARY, Emails, taken
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.messaging.service import PlainSmsOptions
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.public_api.management import uid_change
from app.identity.use_cases.accounts import emails

Entry = dict[str, Any]


@contract.set_emails.implements
def set_emails(context: Context, req: contract.SetEmails) -> Profile:
    """Set addresses by their type, all verified; an address that goes gets a notice, and so does the primary one."""
    accounts.require(context, req.uid)
    provided = input_checks.emails(req.email)
    if not provided.entries:
        raise e.MalformedEmail
    before = _locked(context, req.uid)
    entries = _merged(before.emails, provided)
    if len(entries) > MAX_EMAILS:
        raise e.EmailUpdateRefused
    try:
        after = email_addresses.store_in_order(context, before, entries, verified=provided.forms)
    except account_store.IdentifierTaken as conflict:
        raise taken(conflict) from None
    for form in provided.forms:
        pending_accounts.remove_pending(context, form)
    _end_tokens(context, before, after)
    _notify(context, before, after)
    events.emit(context, "UpdateProfile", after, req.suppress_webhook)
    return accounts.profile_for_server(context, after, req.fields_)


@contract.remove_email.implements
def remove_email(context: Context, req: contract.RemoveAccountEmail) -> Profile:
    account = accounts.require(context, req.uid)
    after = emails.remove(context, account, req.email, suppress_webhook=req.suppress_webhook, is_own=False)
    return accounts.profile_for_server(context, after, req.fields_)


@contract.set_phone.implements
def set_phone(context: Context, req: contract.SetPhone) -> Profile:
    account = accounts.require(context, req.uid)
    phone = input_checks.phone(req.phone or "")
    after = phones.assign(context, account.uid, phone, suppress_webhook=req.suppress_webhook)
    return accounts.profile_for_server(context, after, req.fields_)


@contract.invalidate_email.implements
def invalidate_email(context: Context, req: contract.InvalidateEmail) -> Posted:
    accounts.require(context, req.uid)
    verification.refuse_url(context, req.verification_url)
    before = _locked(context, req.uid)
    if not before.email:
        raise e.NoEmailToInvalidate
    if not before.email_verified:
        raise e.EmailUnverifiedBefore
    form = identifiers.normalize(EMAIL, before.email)
    account_store.set_verified(context, before.uid, EMAIL, form, False)
    entries = [_unverified(entry) if _form(entry) == form else entry for entry in before.emails]
    after = _changed(context, before, {"emails": entries, "email_verified": False})
    verification.send(
        context,
        after,
        verification.VerificationOptions(url=req.verification_url, email_template=req.email_template),
    )
    context.audit.record("email.invalidated", uid=after.uid)
    events.emit(context, "UpdateProfile", after, req.suppress_webhook)
    return Posted()


@contract.invalidate_phone.implements
def invalidate_phone(context: Context, req: contract.InvalidatePhone) -> Posted:
    accounts.require(context, req.uid)
    before = _locked(context, req.uid)
    if not before.phone:
        raise e.NoPhoneToInvalidate
    if not before.phone_verified:
        raise e.PhoneUnverifiedBefore
    account_store.set_verified(context, before.uid, PHONE, before.phone, False)
    after = _changed(context, before, {"phone_verified": False})
    phones.send(context, after.uid, before.phone, after, PlainSmsOptions(req.sms_template, req.is_voice_otp))
    context.audit.record("phone.invalidated", uid=after.uid)
    events.emit(context, "UpdateProfile", after, req.suppress_webhook)
    return Posted()


@contract.change_uid.implements
def change_uid(context: Context, req: contract.ChangeUid) -> Posted:
    accounts.require(context, req.uid)
    uid_change.change(context, _locked(context, req.uid), req.new_uid)
    return Posted()


def _locked(context: Context, uid: str) -> Account:
    account = account_store.lock(context, uid)
    if account is None:
        raise e.UnknownUid
    return account


def _changed(context: Context, account: Account, values: dict[str, Any]) -> Account:
    return account_store.change(context, account.uid, values) or account


def _form(entry: Entry) -> str | None:
    return identifiers.normalize_email(entry["Value"])


def _unverified(entry: Entry) -> Entry:
    return {**entry, "verified": False}


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
    emails.end_links(context, after.uid)


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
