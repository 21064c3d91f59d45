"""Security questions while somebody signs in (rows M10, M11)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.second_factors import questions as contract
from app.contract.second_factors.challenge import FactorKind, FactorLogin
from app.identity.authentication.sign_in import second_factor
from app.identity.authentication.sign_in.second_factors.answering import complete, find_pending, refuse_unavailable
from app.identity.credentials.authenticators.protocol import FactorResponse
from app.identity.credentials.authenticators.registry import AUTHENTICATORS
from app.identity.platform.context import Context


@contract.with_new_answers.implements
def with_new_answers(context: Context, req: contract.EnrolAnswersAtLogin) -> FactorLogin:
    pending = find_pending(context, req.second_factor_authentication_token)
    refuse_unavailable(context, pending, FactorKind.QUESTIONS)
    if not second_factor.can_enrol(context, pending):
        raise e.FactorEnrolledBefore
    return complete(context, req, FactorKind.QUESTIONS, FactorResponse(answers=req.by_question), pending)


@contract.with_answers.implements
def with_answers(context: Context, req: contract.ProveAnswersAtLogin) -> FactorLogin:
    """What is shown here proves, and enrols nothing."""
    pending = find_pending(context, req.second_factor_authentication_token)
    refuse_unavailable(context, pending, FactorKind.QUESTIONS)
    if not AUTHENTICATORS[FactorKind.QUESTIONS].is_enrolled(pending.person):
        raise e.QuestionFactorNotEnrolled
    return complete(context, req, FactorKind.QUESTIONS, FactorResponse(answers=req.by_question), pending)
