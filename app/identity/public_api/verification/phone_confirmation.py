"""Phone verification by code, and the session that it may begin."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors
from app.contract.accounts import phone_operations
from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.sign_in import completion, locks
from app.identity.authentication.sign_in.authentication import MFA, Authentication
from app.identity.authentication.sign_in.pending_sign_in import PendingSignIn
from app.identity.authentication.verification import phone_verification
from app.identity.credentials.captcha import answers
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.codes import SMS_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup, TypedIdentifier
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.public_api.sign_in import risk_challenges, sign_in_responses


@phone_operations.verify.implements
def verify(context: Context, req: phone_operations.VerifyPhone) -> phone_operations.PhoneVerified:
    phone_verification.require_enabled(context)
    phone_verification.count_code_request(context, "phone_code_try")
    if not req.otp:
        raise errors.BadParameter.names("otp")
    if context.holder is not None:
        _verify_own(context, accounts.current(context), req)
        return phone_operations.PhoneVerified(is_posted=True)
    phone = phone_verification.parse_phone(req.phone)
    holder = phone_verification.verifiable_account(context, phone)
    if (
        pending := risk_challenges.pending_sms_sign_in(context, holder.uid if holder is not None else None)
    ) is not None:
        return _complete_risk_challenge(context, pending, phone, req)
    return _sign_in(context, _verify_without_session(context, phone, holder, req), req)


def _verify_own(context: Context, account: Account, req: phone_operations.VerifyPhone) -> None:
    """Verify the number of the signed-in account; because of the session its other credentials stay."""
    if phone_verification.requested_number(context, account) is not None:
        token = phone_verification.spend_requested_code(context, account, req.otp or "")
    elif account.phone is None or account.phone_verified:
        raise errors.PhoneVerifiedOrNoToken
    else:
        token = phone_verification.spend_code(context, account.uid, account.phone, req.otp or "")
    phone_verification.confirm(context, token, knows_password=True)


def _verify_without_session(
    context: Context, phone: str, holder: Account | None, req: phone_operations.VerifyPhone
) -> Account:
    is_hidden = context.tenant.settings.hide_unknown_accounts
    lookup = account_lookup.find(context, TypedIdentifier("phone", phone), is_hidden=is_hidden)
    lookup = replace(lookup, holder=holder)
    if lookup.holder is None and not is_hidden:
        raise errors.UnknownPhone
    is_lock_solved = locks.require_solved(
        context, lookup, locks.LockSolution(req.security_answer, answers.from_parameters(req))
    )
    uid = lookup.holder.uid if lookup.holder is not None else NO_ACCOUNT
    token = phone_verification.spend_code(
        context, uid, phone, req.otp or "", is_lock_solved=is_lock_solved, name=lookup.identifier if is_hidden else None
    )
    return phone_verification.confirm(context, token)


def _complete_risk_challenge(
    context: Context, pending: PendingSignIn, phone: str, req: phone_operations.VerifyPhone
) -> phone_operations.PhoneVerified:
    """Complete a sign-in that a risk stopped, by the code sent for it."""
    is_hidden = context.tenant.settings.hide_unknown_accounts
    lookup = AccountLookup(context, TypedIdentifier("phone", phone), pending.account, is_hidden)
    is_lock_solved = locks.require_solved(
        context, lookup, locks.LockSolution(req.security_answer, answers.from_parameters(req))
    )
    one_time_tokens.spend_code(
        context, Purpose.FACTOR_SMS, pending.account.uid, req.otp or "", subject=phone, errors=SMS_CODE, is_lock_solved=is_lock_solved,
        identifier=lookup.identifier if is_hidden else None,
    )  # fmt: skip
    methods = (*pending.authentication.methods, "sms", MFA)
    authentication = replace(pending.authentication, methods=methods, opens_lock=is_lock_solved)
    try:
        outcome = completion.after_second_factor(context, replace(pending, authentication=authentication))
        login = sign_in_responses.present(context, outcome, fields=req.fields_)
    except (errors.UnknownFactorToken, errors.LockedDuringStep):  # a concurrent request succeeded first
        raise errors.ClosedSmsCode from None
    return phone_operations.PhoneVerified.model_construct(**dict(login))


def _sign_in(context: Context, account: Account, req: phone_operations.VerifyPhone) -> phone_operations.PhoneVerified:
    """Begin a session, or require the second factor; a refusal leaves the code and the number unchanged."""
    authentication = Authentication(("sms",), "phone", FactorKind.SMS)
    outcome = completion.after_first_factor(context, account, authentication)
    login = sign_in_responses.present(context, outcome, fields=req.fields_)
    return phone_operations.PhoneVerified.model_construct(**dict(login))
