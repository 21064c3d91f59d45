"""Operations that answer a challenge with a code, Duo or security answers."""

from __future__ import annotations

from app.contract import errors
from app.contract.second_factors import duo_operations, factor_sign_in_operations, security_question_operations
from app.contract.second_factors.challenge import FactorKind, FactorLogin
from app.identity.authentication.sign_in import pending_sign_in
from app.identity.credentials.second_factors.authenticators.authenticator import FactorResponse
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS
from app.identity.platform.context import Context
from app.identity.public_api.sign_in.complete_challenge import (
    complete,
    find_pending,
    refuse_unavailable,
)


@factor_sign_in_operations.with_totp.implements
def with_totp(context: Context, req: factor_sign_in_operations.TotpVerification) -> FactorLogin:
    if not req.code:
        raise errors.FactorCodeMissing
    return complete(context, req, FactorKind.TOTP, FactorResponse(code=req.code))


@factor_sign_in_operations.with_backup_code.implements
def with_backup_code(context: Context, req: factor_sign_in_operations.BackupCodeVerification) -> FactorLogin:
    if not req.backup_code:
        raise errors.BadParameter.names("backupcode")
    return complete(context, req, FactorKind.BACKUP_CODE, FactorResponse(code=req.backup_code))


@duo_operations.with_duo.implements
def with_duo(context: Context, req: duo_operations.DuoVerification) -> FactorLogin:
    return complete(context, req, FactorKind.DUO, FactorResponse(code=req.code, state=req.state))


@security_question_operations.with_new_answers.implements
def with_new_answers(context: Context, req: security_question_operations.EnrolAnswersAtLogin) -> FactorLogin:
    pending = find_pending(context, req.second_factor_authentication_token)
    refuse_unavailable(context, pending, FactorKind.QUESTIONS)
    if not pending_sign_in.can_enrol(context, pending):
        raise errors.FactorEnrolledBefore
    return complete(context, req, FactorKind.QUESTIONS, FactorResponse(answers=req.by_question), pending)


@security_question_operations.with_answers.implements
def with_answers(context: Context, req: security_question_operations.ProveAnswersAtLogin) -> FactorLogin:
    """Verify answers of an enrolled account; this operation enrols none."""
    pending = find_pending(context, req.second_factor_authentication_token)
    refuse_unavailable(context, pending, FactorKind.QUESTIONS)
    if not AUTHENTICATORS[FactorKind.QUESTIONS].is_enrolled(pending.factors):
        raise errors.QuestionFactorNotEnrolled
    return complete(context, req, FactorKind.QUESTIONS, FactorResponse(answers=req.by_question), pending)
