"""Security questions: as many answers as the tenant asks for, of those that were enrolled (mfa.md section 5).

They are this factor's own, apart from those that open a lock or a forgotten password, which a token alone may change.
"""

from __future__ import annotations

from app.contract import errors as e
from app.contract.configuration import TenantSettings
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import store
from app.identity.credentials.authenticators.protocol import (
    AccountFactors,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.credentials.passwords import security_answers
from app.identity.directory.accounts import store as accounts
from app.identity.platform.context import Context


class SecurityQuestions:
    """Answers, hashed like passwords."""

    kind = FactorKind.QUESTIONS
    methods = ("kba",)
    off = e.QuestionFactorOff
    missing = e.QuestionFactorNotEnrolled
    wrong = (e.WrongSecurityAnswer, e.WrongQuestionOrAnswer)

    def is_on(self, settings: TenantSettings) -> bool:
        return settings.second_factors.security_questions and bool(settings.security_questions)

    def is_enrolled(self, person: AccountFactors) -> bool:
        return bool(_stored_answers(person))

    def hint(self, person: AccountFactors) -> str | None:  # noqa: ARG002 - the protocol's signature
        return None

    def recall(self, context: Context, person: AccountFactors) -> FactorChallenge:
        """The person's own questions, else all that the tenant has to choose from."""
        kept, settings = _stored_answers(person), context.tenant.settings
        if not kept:
            return FactorChallenge(questions=tuple(settings.security_questions))
        return FactorChallenge(questions=tuple(kept)[: settings.second_factors.minimum_questions])

    def begin(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the protocol's signature
        return self.recall(context, person)

    def enrol(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        """Keep the answers, in the place of those that were there."""
        context.work.release_connection()
        kept = security_answers.hash_answers(context, _answered(answer))
        uid = person.account.uid
        accounts.change(context, uid, {})  # everybody locks the account first, and its credentials after it
        for old in person.enrolled(self.kind):
            store.remove(context, uid, (self.kind,), old.credential_id)
        store.add(context, uid, self.kind, facts={"answers": kept}, is_enrolled=True)

    def challenge(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the protocol's signature
        return self.recall(context, person)

    def verify(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        """Raises WrongQuestionOrAnswer for a question that is not the person's, WrongSecurityAnswer."""
        kept, shown = _stored_answers(person), _answered(answer)
        if any(question not in kept for question in shown):
            raise e.WrongQuestionOrAnswer
        context.work.release_connection()
        if not security_answers.are_correct(context, kept, shown):
            raise e.WrongSecurityAnswer
        accounts.change(context, person.account.uid, {})  # as in `enrol`
        if self.kind not in person.lent and not store.set_values(
            context, person.enrolled(self.kind)[-1], used_at=context.now
        ):
            raise e.WrongSecurityAnswer


def refuse_incomplete(context: Context, person: AccountFactors, answer: FactorResponse, *, is_new: bool) -> None:
    """Refuse what cannot be a proof, which is no guess: it is not counted.

    Raises:
        UnknownSecurityQuestion: the tenant has no such question to enrol.
        TooFewAnswers: fewer than the tenant asks for, or than there are.
    """
    settings, given = context.tenant.settings, _answered(answer)
    known = (not is_new and _stored_answers(person)) or settings.security_questions
    if is_new and any(question not in known for question in given):
        raise e.UnknownSecurityQuestion
    if len(given) < min(settings.second_factors.minimum_questions, len(known)):
        raise e.TooFewAnswers


def _answered(answer: FactorResponse) -> dict[str, str]:
    return {question: text for question, text in answer.answers.items() if security_answers.normalize(text)}


def _stored_answers(person: AccountFactors) -> dict[str, str]:
    """Return the answers of this factor; at a risk those stand in that open the account's lock."""
    if held := person.enrolled(FactorKind.QUESTIONS):
        return dict(held[-1].facts["answers"])
    return dict(person.account.security_answers) if FactorKind.QUESTIONS in person.lent else {}
