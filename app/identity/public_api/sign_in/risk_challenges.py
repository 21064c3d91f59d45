"""Risk challenges at the login without second factors: errors 1165 to 1167.

Each refusal contains a challenge token, which the operations of second factors accept.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.contract.sign_in.sign_in_operations import Login, PasswordLogin
from app.identity.authentication.sign_in import completion, pending_sign_in
from app.identity.authentication.sign_in.completion import FactorRequired
from app.identity.authentication.sign_in.pending_sign_in import PendingSignIn, StoredSignIn
from app.identity.credentials.one_time_tokens import resend_delay
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.authenticators import email
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions, FactorResponse
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.identity.public_api.sign_in import sign_in_responses
from app.kit.clock import iso
from app.kit.operations.errors import ApiError

_SENT: Final[Mapping[FactorKind, type[ApiError]]] = {
    FactorKind.SMS: errors.RiskTextedCode,
    FactorKind.EMAIL: errors.RiskMailedCode,
}


def sign_in_or_challenge(context: Context, waiting: FactorRequired, req: PasswordLogin) -> Login:
    """Sign in a request that contains the security answers; else send a code, or ask for the answers.

    Raises:
        RiskTextedCode, RiskMailedCode: a code was sent, now or a moment ago.
        RiskAsksQuestions: the answers are required beside the password.
        WrongQuestionOrAnswer: the answers are wrong, and count.
        The refusals of a lock.
        MailLimitReached, SmsLimitReached, SharedSmsLimitReached: no code could be sent.
    """
    pending, unsent = pending_sign_in.begin(context, waiting.required, waiting.authentication), None
    for kind in waiting.required.kinds:
        if kind is FactorKind.QUESTIONS and req.security_answer:
            return _with_answers(context, pending, req)
        if kind is FactorKind.QUESTIONS:
            raise errors.RiskAsksQuestions(data=_challenge_data(context, pending), commit_on_raise=True)
        try:
            _send(context, pending, kind, req)
        except pending_sign_in.SEND_ERRORS as reason:
            context.audit.record("second_factor.not_sent", uid=pending.account.uid, reason=type(reason).__name__)
            unsent = reason
            continue
        raise _SENT[kind](data=_challenge_data(context, pending), commit_on_raise=True)
    raise unsent or errors.UnknownFactorToken


def pending_sms_sign_in(context: Context, uid: str | None) -> PendingSignIn | None:
    """Return the account's sign-in that a risk stopped and an SMS code continues; None where there is none.

    An unknown account costs the same query as a known one; a tenant without demands costs none.
    """
    if not context.tenant.settings.risk.demands:
        return None
    for token in continuation_tokens.of_account(context, ContinuationPurpose.SECOND_FACTOR, uid or NO_ACCOUNT):
        if FactorKind.SMS in (StoredSignIn.from_stored(token.facts).demanded or ()):
            with suppress(errors.UnknownFactorToken):  # the password changed meanwhile
                return pending_sign_in.resume(context, token)
    return None


def _with_answers(context: Context, pending: PendingSignIn, req: PasswordLogin) -> Login:
    """Verify the security answers after the password.

    The records of the password are committed first, because a wrong answer rolls back.
    """
    context.work.commit()
    try:
        pending = pending_sign_in.verify(
            context, pending, FactorKind.QUESTIONS, FactorResponse(answers=req.security_answer or {})
        )
    except errors.TooFewAnswers:
        raise errors.RiskAsksQuestions(data=_challenge_data(context, pending)) from None
    except errors.WrongSecurityAnswer:
        raise errors.WrongQuestionOrAnswer from None
    outcome = completion.after_second_factor(context, pending)
    return sign_in_responses.to_login(sign_in_responses.present(context, outcome, fields=req.fields_))


def _send(context: Context, pending: PendingSignIn, kind: FactorKind, req: PasswordLogin) -> None:
    """Send a code, at most one in 30 seconds however often the password is submitted."""
    if any(resend_delay.of_account(context, (second_factors.CODE_PURPOSES[kind],), pending.account.uid).values()):
        return
    account, to_email = pending.account, None
    if kind is FactorKind.EMAIL:
        verified = email.verified_emails(account)
        to_email = account.email if account.email in verified else verified[0]
    options = ChallengeOptions(
        req.rba_otp_sms_template, req.rba_one_click_email_template, req.is_voice_otp, email=to_email
    )
    AUTHENTICATORS[kind].challenge(context, pending.factors, options)


def _challenge_data(context: Context, pending: PendingSignIn) -> dict[str, Any]:
    """Return the data that continue the sign-in: the challenge token, its expiry, and the questions."""
    data: dict[str, Any] = {
        "SecondFactorAuthenticationToken": pending.token.text, "ExpireIn": iso(pending.token.expires_at)
    }  # fmt: skip
    if FactorKind.QUESTIONS in pending.factors.fallback_kinds:
        texts = context.tenant.settings.security_questions
        questions = AUTHENTICATORS[FactorKind.QUESTIONS].describe(context, pending.factors).questions
        data["SecurityQuestions"] = [
            {"QuestionId": question, "Question": texts.get(question, question)} for question in questions
        ]
    return data
