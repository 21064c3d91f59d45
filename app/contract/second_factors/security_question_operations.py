"""Security questions as a second factor."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, CREDENTIALS, MACHINE_TOKEN
from app.contract.catalogue import HASHES, operation
from app.contract.configuration_model import Words
from app.contract.error_groups import LOCK_CHALLENGES, UID_ERRORS
from app.contract.resources import collection
from app.contract.second_factors.account_factor_operations import WRITE, ManagedFactor
from app.contract.second_factors.challenge import TOKEN_ERRORS, FactorLogin
from app.contract.second_factors.factor_sign_in_operations import ChallengeAnswer
from app.contract.shared_parameters import AccessTokenQuery, FieldSelection, SecurityAnswer
from app.contract.shared_responses import Deleted, Posted
from app.kit.operations.wire import From, Lower, Wire
from app.kit.resources.folding import folded_sentence
from app.kit.resources.resource import CREATE, DELETE, LIST, UPDATE, InSettings, Key, RequestName

_LOGIN, _OWN = "/identity/v2/auth/login/2fa", "/identity/v2/auth/account/2fa"
_MANAGED = "/identity/v2/manage/account/2fa"
_NAME = "securityquestionanswer"
Voice = Annotated[bool, From.QUERY]


class SecurityQuestion(Wire):
    question_id: Annotated[str, Key("questionId", is_minted=True)]
    question: Annotated[Words, RequestName("question")]


SECURITY_QUESTIONS = collection(
    "security_questions", "/v2/manage/security-questions", SecurityQuestion, verbs=(LIST, CREATE, UPDATE, DELETE),
    noun="security question",
    about="People choose their questions from these.",
    scope="security", backing=InSettings("security_questions", value="question"),
    unique=("question",), fold=folded_sentence, max_items=50, exists=errors.SecurityQuestionExists, unknown=errors.UnknownSecurityQuestion,
)  # fmt: skip


class QuestionAnswer(Wire):
    """The answer to one security question."""

    question_id: str = Field(max_length=100)
    answer: SecurityAnswer


class Answers(Lower):
    """Answers as a list, unlike those of registration and of a lock; each costs a hash."""

    security_question_answer: list[QuestionAnswer] = Field(alias="securityquestionanswer", max_length=10)

    @property
    def by_question(self) -> dict[str, str]:
        return {item.question_id: item.answer for item in self.security_question_answer}


class EnrolAnswersAtLogin(ChallengeAnswer, Answers):
    is_voice_otp: Voice = Field(default=False, alias="isvoiceotp")


class ProveAnswersAtLogin(ChallengeAnswer, Answers):
    is_voice_otp: Voice = Field(default=False, alias="isvoiceotp")


class OwnAnswers(AccessTokenQuery, FieldSelection, Answers):
    """Existing answers are replaced only with `ReplaceSecurityQuestionAnswer`."""

    replace_security_question_answer: bool = Field(default=False, alias="ReplaceSecurityQuestionAnswer")


with_new_answers = operation(
    "second_factors.with_new_answers", f"PUT {_LOGIN}/{_NAME}", EnrolAnswersAtLogin, FactorLogin, auth=API_KEY,
    heavy_work=HASHES, row="M10",
    errors=(*TOKEN_ERRORS, errors.QuestionFactorOff, errors.FactorEnrolledBefore, errors.TooFewAnswers),
    summary="Set up security questions at sign-in",
    description="Answers a challenge by choosing and answering security questions, and returns the session. It works only while the "
    "account has no second factor.",
)  # fmt: skip
with_answers = operation(
    "second_factors.with_answers", f"POST {_LOGIN}/verification/{_NAME}", ProveAnswersAtLogin, FactorLogin, auth=API_KEY, heavy_work=HASHES,
    row="M11",
    errors=(*TOKEN_ERRORS, errors.QuestionFactorOff, errors.QuestionFactorNotEnrolled, errors.TooFewAnswers, errors.WrongSecurityAnswer),
    summary="Answer with security answers",
    description="Answers a challenge with the answers to the account’s security questions and returns the session.",
)  # fmt: skip
keep_answers = operation(
    "second_factors.keep_answers", f"PUT {_OWN}/{_NAME}", OwnAnswers, Posted, auth=API_KEY & ACCESS_TOKEN,
    access=CREDENTIALS, heavy_work=HASHES, row="M25",
    errors=(*LOCK_CHALLENGES, errors.QuestionFactorOff, errors.FactorEnrolledBefore, errors.TooFewAnswers),
    summary="Set up security questions",
    description="Sets up security questions as a second factor. With `ReplaceSecurityQuestionAnswer` the new answers replace all "
    "earlier ones.",
)  # fmt: skip
remove_questions = operation(
    "second_factors.remove_questions", f"DELETE {_OWN}/{_NAME}", AccessTokenQuery, Deleted, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    also=(f"{_OWN}/authenticator/{_NAME}",), row="M34", errors=(errors.FactorRemovalRefused, errors.QuestionFactorOff),
    summary="Remove security questions",
    description="Removes security questions from the second factors of the signed-in account.",
)  # fmt: skip
managed_remove_questions = operation(
    "second_factors.managed_remove_questions", f"DELETE {_MANAGED}/{_NAME}", ManagedFactor, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=WRITE,
    also=(f"{_MANAGED}/authenticator/{_NAME}",), row="M43", errors=(*UID_ERRORS, errors.FactorRemovalRefused),
    summary="Remove an account’s security questions",
    description="Removes security questions from the second factors of an account.",
)  # fmt: skip
