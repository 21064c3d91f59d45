"""What the hub asks between a first factor and the session, and of the factors that people keep. One set of operations for
every authenticator: `kind` says which."""

from typing import Annotated, Any

from pydantic import Field

from app.contract import errors as e
from app.contract.error_groups import EMAIL_CODE, LOCKS, REAUTHENTICATION, SMS_CODE, SMS_SENDING
from app.contract.groups import SecurityAnswer
from app.contract.hashing import HASHES_SECRETS
from app.contract.hub import Next
from app.contract.hub_account import SessionRenewal, WithPassword
from app.contract.operations import hub_operation
from app.contract.second_factors.challenge import DUO_REDIRECT, FactorKind, Question
from app.kit.wire import From, Wire


class FactorPrompt(Wire):
    """What it takes to prove a factor, or to enrol it; each kind fills what is its own."""

    kind: FactorKind
    is_enrolled: bool = False
    secret: str | None = None  # typed where the picture cannot be scanned
    uri: str | None = None  # what the picture holds
    sent_to: str | None = None  # masked
    targets: list[str] = Field(default_factory=list)  # where it could be sent, masked
    resend_in_seconds: int = 0
    questions: list[Question] = Field(default_factory=list)
    answers_needed: int = 0
    options: dict[str, Any] | None = None  # of WebAuthn
    address: str | None = None  # where the browser is led
    number: str | None = None  # to be matched on the other device
    state: str | None = None  # of what is answered elsewhere: drawn, waiting, approved, denied, failed
    app: str | None = None  # by which it is answered
    stores: dict[str, str] = Field(default_factory=dict)  # where that is had


class FactorChoice(Wire):
    """Another way to go on."""

    kind: FactorKind
    hint: str | None = None  # where it would be sent, masked


class FactorView(Wire):
    """The page between the first factor and the session."""

    shown: FactorPrompt | None = None  # None: one is to be chosen first
    choices: list[FactorChoice] = Field(default_factory=list)
    must_enrol: bool = False
    is_elsewhere: bool = False  # asked because the account never was there
    trust_days: int = 0  # for so long this browser may be trusted; 0: it may not
    landing: str = ""  # the page that wants to know whether it is still them; a whole sign-in says so, too


class FactorRequest(Wire):
    attempt: Annotated[str, From.PATH]
    kind: Annotated[FactorKind | None, From.QUERY] = None


class FactorStep(Wire):
    """The view, or where the visitor belongs instead."""

    view: FactorView | None = None
    next: Next | None = None


class ChooseFactorRequest(Wire):
    """Which factor is used or enrolled; `target` is the number or the address of one that is enrolled."""

    attempt: str
    kind: FactorKind
    target: str | None = Field(default=None, max_length=320)


class FactorAnswer(Wire):
    """What was typed or what the browser's API gave; each kind reads what is its own."""

    attempt: str
    kind: FactorKind
    code: str = Field(default="", max_length=1_000)
    answers: dict[str, SecurityAnswer] = Field(default_factory=dict, max_length=10)
    credential: dict[str, Any] = Field(default_factory=dict)
    state: str = Field(default="", max_length=500)
    trust: bool = False


FACTOR_LOCKS = (*LOCKS, e.LockedDuringStep, e.LoginDisabled, e.TooManySessions)
_SENT_ERRORS = (
    *SMS_SENDING, *SMS_CODE, *EMAIL_CODE, e.SmsFactorOff, e.NoPhoneRegistered, e.MalformedPhone, e.PhoneRegistered, e.EmailFactorOff,
    e.MalformedEmail, e.EmailNotOnProfile, e.MailLimitReached,
)  # fmt: skip
_QUESTION_ERRORS = (
    e.QuestionFactorOff, e.QuestionFactorNotEnrolled, e.UnknownSecurityQuestion, e.TooFewAnswers, e.WrongSecurityAnswer,
    e.WrongQuestionOrAnswer,
)  # fmt: skip
_ELSEWHERE_ERRORS = (
    *DUO_REDIRECT, e.PushOff, e.PushNotEnrolled, e.PushMisconfigured, e.PushPending, e.PushDenied, e.PushFailed, e.PushAnswered,
    e.WrongPushToken, e.DuoOff, e.DuoMisconfigured, e.DuoFailed, e.WrongDuoState, e.DuoNotEnrolled,
)  # fmt: skip
_PASSKEY_ERRORS = (e.PasskeyRefused, e.PasskeyMisconfigured, e.PasskeyFactorOff, e.PasskeyFactorNotEnrolled)
FACTOR_ERRORS = (
    *FACTOR_LOCKS, *_SENT_ERRORS, *_QUESTION_ERRORS, *_ELSEWHERE_ERRORS, *_PASSKEY_ERRORS, e.TotpOff, e.TotpNotEnrolled, e.WrongTotpCode,
    e.NoBackupCodes, e.WrongBackupCode,
)  # fmt: skip
"""Each authenticator adds its own."""

read_factor = hub_operation(
    "hub.read_factor", "GET /hub/second-factor/{attempt}", FactorRequest, FactorStep,
    summary="Read what the page of the second factor shows.",
)  # fmt: skip
choose_factor = hub_operation(
    "hub.choose_factor", "POST /hub/second-factor/choose", ChooseFactorRequest, FactorStep, errors=FACTOR_ERRORS,
    summary="Use another factor, or begin to enrol one: what must be sent is sent.",
)  # fmt: skip
prove_factor = hub_operation(
    "hub.prove_factor", "POST /hub/second-factor", FactorAnswer, Next, hashing=HASHES_SECRETS, errors=FACTOR_ERRORS,
    summary="Prove the second factor. A refusal bears the page's view as its data.",
)  # fmt: skip


class NewBackupCodes(SessionRenewal):
    """The only moment at which their text exists."""

    codes: list[str]
    person: str = ""


make_backup_codes = hub_operation(
    "hub.make_backup_codes", "POST /hub/own/backup-codes", WithPassword, NewBackupCodes, hashing=HASHES_SECRETS,
    errors=(*REAUTHENTICATION, e.NoSecondFactor, e.NoBackupCodes),
    summary="Make new backup codes for the signed-in person; the old ones are over.",
)  # fmt: skip
