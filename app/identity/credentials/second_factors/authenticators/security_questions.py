"""Security questions: the tenant sets how many of the enrolled answers a challenge asks for.

These answers are separate from those that solve a lock or reset a password.
"""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.contract.tenants.settings import TenantSettings
from app.identity.credentials import credential_store
from app.identity.credentials.passwords import security_answers
from app.identity.credentials.second_factors.authenticators.authenticator import (
    AccountFactors,
    Authenticator,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context


class SecurityQuestionsAuthenticator(Authenticator):
    """Answers to security questions, hashed like passwords."""

    kind = FactorKind.QUESTIONS
    amr = ("kba",)
    disabled_error = errors.QuestionFactorOff
    not_enrolled_error = errors.QuestionFactorNotEnrolled
    removal_error = errors.FactorRemovalRefused
    enrolled_members = ("is_security_question_authenticator_verified",)
    wrong_errors = (errors.WrongSecurityAnswer, errors.WrongQuestionOrAnswer)

    def is_on(self, settings: TenantSettings) -> bool:
        return super().is_on(settings) and bool(settings.security_questions)

    def is_enrolled(self, factors: AccountFactors) -> bool:
        return bool(_stored_answers(factors))

    def is_fallback(self, context: Context, account: Account) -> bool:
        return bool(context.tenant.settings.security_questions.keys() & account.security_answers.keys())

    def describe(self, context: Context, factors: AccountFactors) -> FactorChallenge:
        """Return the enrolled questions, or before enrolment all questions of the tenant."""
        stored, settings = _stored_answers(factors), context.tenant.settings
        if not stored:
            return FactorChallenge(questions=tuple(settings.security_questions))
        return FactorChallenge(questions=tuple(stored)[: settings.second_factors.minimum_questions])

    def refuse_incomplete(
        self, context: Context, factors: AccountFactors, response: FactorResponse, *, is_new: bool
    ) -> None:
        """Raises UnknownSecurityQuestion, and TooFewAnswers: fewer than the tenant requires, or than are enrolled."""
        settings, answered = context.tenant.settings, _answered(response)
        known = (not is_new and _stored_answers(factors)) or settings.security_questions
        if is_new and any(question not in known for question in answered):
            raise errors.UnknownSecurityQuestion
        if len(answered) < min(settings.second_factors.minimum_questions, len(known)):
            raise errors.TooFewAnswers

    def enrol(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        """Store the answers in place of the previous ones."""
        context.work.release_connection()
        stored = security_answers.hash_answers(context, _answered(response))
        uid = factors.account.uid
        account_store.lock(context, uid)  # lock order: the account, then its credentials
        for old in factors.enrolled(self.kind):
            credential_store.remove(context, uid, (self.kind,), old.credential_id)
        credential_store.add(context, uid, self.kind, facts={"answers": stored}, is_enrolled=True)

    def challenge(self, context: Context, factors: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the base class's signature
        return self.describe(context, factors)

    def verify(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        """Raises WrongSecurityAnswer, and WrongQuestionOrAnswer for a question that the account has not enrolled."""
        stored, answered = _stored_answers(factors), _answered(response)
        if not answered.keys() <= stored.keys():
            raise errors.WrongQuestionOrAnswer
        context.work.release_connection()
        if not security_answers.are_correct(context, stored, answered):
            raise errors.WrongSecurityAnswer
        account_store.lock_before_own_rows(context, factors.account.uid)
        if self.kind not in factors.fallback_kinds and not credential_store.set_values(
            context, factors.enrolled(self.kind)[-1], used_at=context.now
        ):
            raise errors.WrongSecurityAnswer


AUTHENTICATOR: Final = SecurityQuestionsAuthenticator()


def _answered(response: FactorResponse) -> dict[str, str]:
    return {question: text for question, text in response.answers.items() if security_answers.normalize(text)}


def _stored_answers(factors: AccountFactors) -> dict[str, str]:
    """Return the enrolled answers; as a fallback factor those that solve the account's lock."""
    if enrolled := factors.enrolled(FactorKind.QUESTIONS):
        return dict(enrolled[-1].facts["answers"])
    return dict(factors.account.security_answers) if FactorKind.QUESTIONS in factors.fallback_kinds else {}
