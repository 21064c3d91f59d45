"""Security questions while somebody signs in (rows M10, M11)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.second_factors import questions as contract
from app.contract.second_factors.challenge import FactorKind, FactorLogin
from app.identity.authenticators.protocol import Answer
from app.identity.authenticators.registry import AUTHENTICATORS
from app.identity.call import Call
from app.identity.sign_in import second_factor
from app.identity.sign_in.factor_rows.answering import answered, known, refuse_without
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.with_new_answers)(with_new_answers)
    server.implements(contract.with_answers)(with_answers)


def with_new_answers(call: Call, req: contract.AnswersKept) -> FactorLogin:
    found = known(call, req.second_factor_authentication_token)
    refuse_without(call, found, FactorKind.QUESTIONS)
    if not second_factor.may_enrol(call, found):
        raise e.FactorEnrolledBefore
    return answered(call, req, FactorKind.QUESTIONS, Answer(answers=req.by_question), found)


def with_answers(call: Call, req: contract.AnswersShown) -> FactorLogin:
    """What is shown here proves, and enrols nothing."""
    found = known(call, req.second_factor_authentication_token)
    refuse_without(call, found, FactorKind.QUESTIONS)
    if not AUTHENTICATORS[FactorKind.QUESTIONS].is_enrolled(found.person):
        raise e.QuestionFactorNotEnrolled
    return answered(call, req, FactorKind.QUESTIONS, Answer(answers=req.by_question), found)
