"""Operations that send verification mails and report whether an identifier is taken.

Operations that redeem a token are in `sign_in`, because they may begin a session.
"""

from __future__ import annotations

from app.contract import errors
from app.contract.verification import verification_operations
from app.identity.authentication.verification import email_verification
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.directory.accounts import account_store, accounts, identifiers, input_checks
from app.identity.directory.accounts.account import Account, is_verified
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.platform.context import Context
from app.kit import randomness


@verification_operations.resend.implements
def resend(context: Context, req: verification_operations.ResendVerification) -> verification_operations.PostedWithId:
    """Send the mail again; where accounts are hidden, an unknown address is treated like an unverified address."""
    _require_enabled(context)
    context.count_request("verification_mail", context.tenant.settings.limits.sign_in_per_minute_per_address)
    if not req.email or not accounts.is_email(req.email):
        raise errors.MalformedEmail
    email_verification.refuse_url(context, req.verification_url)
    options = VerificationOptions(url=req.verification_url, email_template=req.email_template)
    account = email_verification.find_account(context, req.email)
    if context.tenant.settings.hide_unknown_accounts:
        return _send_hidden(context, account, req.email, options)
    if account is None:
        raise errors.UnknownAccount
    return _send(context, account, req.email, options)


@verification_operations.send_own.implements
def send_own(
    context: Context, req: verification_operations.SendOwnVerification
) -> verification_operations.PostedWithId:
    _require_enabled(context)
    if context.holder is None:
        raise errors.WrongClientGuid if req.client_guid else errors.NotAuthenticated
    email_verification.refuse_url(context, req.verification_url)
    account = account_store.by_uid(context, context.holder.uid)
    if account is None or not account.email:
        raise errors.NoEmailProfile
    return _send(
        context,
        account,
        account.email,
        VerificationOptions(url=req.verification_url, email_template=req.email_template),
    )


@verification_operations.email_availability.implements
def email_availability(
    context: Context, req: verification_operations.EmailAvailability
) -> verification_operations.Exist:
    if req.email is None:
        raise errors.BadParameter.names("verificationtoken")
    context.count_request("availability", context.tenant.settings.limits.availability_per_minute_per_address)
    if not accounts.is_email(req.email):
        raise errors.MalformedEmail
    return _availability(context, accounts.by_email(context, req.email) is not None)


@verification_operations.phone_availability.implements
def phone_availability(
    context: Context, req: verification_operations.PhoneAvailability
) -> verification_operations.Exist:
    if not context.tenant.settings.phone_login:
        raise errors.PhoneLoginOff
    context.count_request("availability", context.tenant.settings.limits.availability_per_minute_per_address)
    if req.phone is None:
        raise errors.BadParameter.names("phone")
    if identifiers.normalize_phone(req.phone) is None:
        raise errors.MalformedPhone
    holder = accounts.by_phone(context, req.phone)
    return _availability(context, holder is not None and not pending_accounts.has_unverified_phone(holder))


@verification_operations.username_availability.implements
def username_availability(
    context: Context, req: verification_operations.UsernameAvailability
) -> verification_operations.Exist:
    context.count_request("availability", context.tenant.settings.limits.availability_per_minute_per_address)
    if not req.username:
        raise errors.UsernameMissing
    holder = accounts.by_username(context, req.username)
    if holder is None or context.tenant.settings.hide_unknown_accounts:
        input_checks.username(context.tenant.settings, req.username)
    return _availability(context, holder is not None)


def _availability(context: Context, is_taken: bool) -> verification_operations.Exist:
    """Report whether an identifier is taken. Where accounts are hidden, every identifier is reported free.

    Registration then responds the same for all, and mails the owner of a taken address. The look-up runs in both cases, for
    equal timing.
    """
    return verification_operations.Exist(is_exist=is_taken and not context.tenant.settings.hide_unknown_accounts)


def _send(
    context: Context, account: Account, email: str, options: VerificationOptions
) -> verification_operations.PostedWithId:
    if is_verified(account, email):
        raise errors.EmailAlreadyVerified
    return _response(context, email_verification.send(context, account, options, email=email))


def _send_hidden(
    context: Context, account: Account | None, email: str, options: VerificationOptions
) -> verification_operations.PostedWithId:
    """Send the mail or simulate that; a reached limit is silent, because it would reveal an earlier message."""
    try:
        if account is None or is_verified(account, email):
            return _response(context, email_verification.send_account_exists(context, email, options))
        return _send(context, account, email, options)
    except errors.MailLimitReached:
        context.work.rollback()
        context.audit.record("verification.not_sent", uid=account.uid if account else None, reason="MailLimitReached")
        return _response(context, randomness.guid())


def _response(context: Context, code_id: str) -> verification_operations.PostedWithId:
    return verification_operations.PostedWithId(
        UUID=code_id if context.tenant.settings.email_verification_codes else None
    )


def _require_enabled(context: Context) -> None:
    if context.tenant.settings.email_verification == "disabled":
        raise errors.EmailVerificationOff
