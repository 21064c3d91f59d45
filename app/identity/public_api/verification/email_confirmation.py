"""Operations that verify an email address by a link or a code, and then end sessions or begin a session."""

from __future__ import annotations

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.contract.verification import verification_operations
from app.identity.authentication.sign_in import completion, locks
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.sessions.revocation import end_after_email_verification
from app.identity.authentication.verification import email_verification
from app.identity.credentials.captcha import answers
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.codes import MAIL_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.directory.accounts import accounts, identifiers
from app.identity.directory.accounts.account import is_verified
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup, TypedIdentifier
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.public_api.sign_in import sign_in_responses
from app.kit.operations.errors import ApiError


@verification_operations.by_link.implements
def by_link(context: Context, req: verification_operations.VerifyByLink) -> verification_operations.Verified:
    """Leave the token unused on a HEAD request, which mail scanners send."""
    solution = locks.LockSolution()
    if not req.verification_token:
        token = _spend_code(context, req.otp or "", req.email, req.uuid, solution)
    elif not one_time_tokens.has_link_form(req.verification_token):
        raise errors.WrongVerificationLink
    elif context.raw.method == "HEAD":
        email_verification.peek(context, req.verification_token)
        return verification_operations.Verified()
    else:
        _refuse_contested(context, email_verification.peek(context, req.verification_token), errors.ClosedLink)
        token = email_verification.spend_link(context, req.verification_token)
    return _confirm(context, token, req)


@verification_operations.by_code.implements
def by_code(context: Context, req: verification_operations.VerifyByCode) -> verification_operations.Verified:
    solution = locks.LockSolution(req.security_answer, answers.from_parameters(req))
    return _confirm(context, _spend_code(context, req.otp, req.email, req.uuid, solution), req)


def _spend_code(
    context: Context, code: str, email: str | None, code_id: str | None, solution: locks.LockSolution
) -> OneTimeToken:
    settings = context.tenant.settings
    if not settings.email_verification_codes:
        raise errors.EmailCodesOff
    if not email and not code_id:
        raise errors.BadParameter.names("email")
    context.count_attempt("verification_code", settings.limits.sign_in_per_minute_per_address)
    sent = one_time_tokens.find_code(context, Purpose.EMAIL, code_id) if code_id else None
    address = sent.subject if sent else (email or "")
    if not sent and email and not accounts.is_email(email):
        raise errors.MalformedEmail
    hides = settings.hide_unknown_accounts
    lookup = AccountLookup(
        context, TypedIdentifier("email", address), email_verification.find_account(context, address), hides
    )
    uid = sent.uid if sent else _pending_uid(lookup)
    if uid is None or (lookup.holder is None and not hides):
        raise errors.UnknownAccount if email else errors.WrongMailCode
    is_lock_solved, subject = locks.require_solved(context, lookup, solution), identifiers.normalize(EMAIL, address)
    kind = (
        sent.purpose
        if sent
        else one_time_tokens.purpose_of_newest_code(context, email_verification.KINDS, uid, subject)
    )
    token = one_time_tokens.check_code(
        context, kind, uid, code, subject=subject, errors=MAIL_CODE, is_lock_solved=is_lock_solved,
        identifier=lookup.identifier if hides else None,
    )  # fmt: skip
    _refuse_contested(context, token, errors.ClosedMailCode)
    one_time_tokens.spend_checked_code(context, token, errors=MAIL_CODE, is_lock_solved=is_lock_solved)
    return token


def _refuse_contested(context: Context, token: OneTimeToken, refusal: type[ApiError]) -> None:
    """Refuse an address that several accounts registered, without using the token up: only our page asks for the password."""
    if token.purpose is Purpose.EMAIL and pending_accounts.is_contested(context, token.subject):
        context.audit.record("verification.refused", uid=token.uid, reason="contested")
        raise refusal


def _pending_uid(lookup: AccountLookup) -> str | None:
    """Return the uid of the account with this unverified address; NO_ACCOUNT where there is none and that is hidden."""
    account = lookup.holder
    if lookup.is_hidden and (account is None or is_verified(account, lookup.identifier.value)):
        return NO_ACCOUNT
    return account.uid if account else None


def _confirm(
    context: Context,
    token: OneTimeToken,
    req: verification_operations.VerifyByLink | verification_operations.VerifyByCode,
) -> verification_operations.Verified:
    account = email_verification.confirm(context, token, template=req.welcome_email_template)
    end_after_email_verification(context, account)
    if not context.tenant.settings.login_on_email_verification:
        return verification_operations.Verified()
    authentication = Authentication(("otp",), channel=FactorKind.EMAIL)
    complete = completion.without_asking(context, account, authentication)
    data = sign_in_responses.to_login(sign_in_responses.session(context, complete, req.fields_)) if complete else None
    return verification_operations.Verified(data=data)
