"""The security questions that accounts choose from (interface seed.md "Add security question", tenant-config.md section 8)."""

from typing import Annotated

from app.contract import errors as e
from app.contract.resources import collection
from app.contract.validators import Words
from app.kit.resource import CREATE, DELETE, LIST, UPDATE, Asked, InSettings, Key
from app.kit.wire import Wire


class SecurityQuestion(Wire):
    question_id: Annotated[str, Key("questionId", is_minted=True)]
    question: Annotated[Words, Asked("question")]


SECURITY_QUESTIONS = collection(
    "security_questions", "/v2/manage/security-questions", SecurityQuestion, verbs=(LIST, CREATE, UPDATE, DELETE),
    noun="security question", scope="security", backing=InSettings("security_questions", value="question"),
    unique=("question",), most=50, exists=e.SecurityQuestionExists, unknown=e.UnknownSecurityQuestion,
)  # fmt: skip
