"""The tenant's servers change an account's identifiers."""

from __future__ import annotations

from app.contract import errors
from app.contract.accounts import identifier_operations
from app.contract.profile import Profile
from app.contract.shared_responses import Posted
from app.identity.authentication.verification import email_verification, phone_verification
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.directory.accounts import accounts, input_checks
from app.identity.messaging.messaging import PlainSmsOptions
from app.identity.platform.context import Context
from app.identity.public_api.management import uid_change
from app.identity.use_cases.accounts import change_emails


@identifier_operations.set_emails.implements
def set_emails(context: Context, req: identifier_operations.SetEmails) -> Profile:
    accounts.require(context, req.uid)
    provided = input_checks.emails(req.email)
    if not provided.addresses:
        raise errors.MalformedEmail
    after = change_emails.set_by_server(context, req.uid, provided)
    return accounts.profile_for_server(context, after, req.fields_)


@identifier_operations.remove_email.implements
def remove_email(context: Context, req: identifier_operations.RemoveAccountEmail) -> Profile:
    account = accounts.require(context, req.uid)
    after = change_emails.remove(context, account, req.email, is_own=False)
    return accounts.profile_for_server(context, after, req.fields_)


@identifier_operations.set_phone.implements
def set_phone(context: Context, req: identifier_operations.SetPhone) -> Profile:
    account = accounts.require(context, req.uid)
    phone = input_checks.phone(req.phone or "")
    after = phone_verification.assign(context, account.uid, phone)
    return accounts.profile_for_server(context, after, req.fields_)


@identifier_operations.invalidate_email.implements
def invalidate_email(context: Context, req: identifier_operations.InvalidateEmail) -> Posted:
    accounts.require(context, req.uid)
    email_verification.refuse_url(context, req.verification_url)
    options = VerificationOptions(url=req.verification_url, email_template=req.email_template)
    change_emails.invalidate(context, req.uid, options)
    return Posted()


@identifier_operations.invalidate_phone.implements
def invalidate_phone(context: Context, req: identifier_operations.InvalidatePhone) -> Posted:
    accounts.require(context, req.uid)
    options = PlainSmsOptions(req.sms_template, req.is_voice_otp)
    phone_verification.invalidate(context, req.uid, options)
    return Posted()


@identifier_operations.change_uid.implements
def change_uid(context: Context, req: identifier_operations.ChangeUid) -> Posted:
    accounts.require(context, req.uid)
    uid_change.change(context, accounts.lock(context, req.uid), req.new_uid)
    return Posted()
