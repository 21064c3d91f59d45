"""Operations for the second factor page, for every authenticator: `kind` names it."""

from typing import Annotated, Any, Final

from pydantic import Field

from app.contract import errors
from app.contract.accounts.models import PersonView
from app.contract.catalogue import HASHES, HASHES_SECRETS, hub_operation
from app.contract.error_groups import EMAIL_CODE, LOCKS, REAUTHENTICATION, SMS_CODE, SMS_SENDING
from app.contract.page_models import NoParameters
from app.contract.second_factors.challenge import FactorKind, Question
from app.contract.shared_parameters import SecurityAnswer
from app.contract.steps import StepResponse
from app.kit.operations.errors import ApiError
from app.kit.operations.wire import From, Wire


class FactorPrompt(Wire):
    """The prompt of a factor, to verify or to enrol it; each kind fills its own fields."""

    kind: FactorKind
    is_enrolled: bool = False
    secret: str | None = None  # for manual entry
    uri: str | None = None  # the content of the QR code
    sent_to: str | None = None  # masked
    targets: list[str] = Field(default_factory=list)  # possible recipients, masked
    resend_in_seconds: int = 0
    questions: list[Question] = Field(default_factory=list)
    answers_needed: int = 0
    options: dict[str, Any] | None = None  # WebAuthn options
    address: str | None = None  # redirect to it
    number: str | None = None  # to match on the other device
    state: str | None = None  # of a factor on another device: drawn, waiting, approved, denied, failed
    app: str | None = None  # the name of the app that answers
    stores: dict[str, str] = Field(default_factory=dict)  # its download addresses
    left: int | None = None  # unused backup codes


class FactorChoice(Wire):
    """A factor to choose from."""

    kind: FactorKind
    hint: str | None = None  # which one: a masked recipient, a passkey's name, how many are left
    is_last_used: bool = False


class FactorView(Wire):
    """The second factor page."""

    shown: FactorPrompt | None = None  # None: choose a factor first
    choices: list[FactorChoice] = Field(default_factory=list)  # with the shown one; the one used last comes first
    must_enrol: bool = False
    is_elsewhere: bool = False  # required because the browser or the place is new
    trust_days: int = 0  # how long this browser may be trusted; 0: not at all
    landing: str = ""  # the page that requires reauthentication
    person: PersonView | None = None  # the account, by the kind of identifier that the visitor gave


class FactorRefusal(Wire):
    """`Data` of an error: the page, so that the hub renders it again without another call."""

    view: FactorView | None = None


class FactorRequest(Wire):
    interaction_id: Annotated[str, From.PATH]
    kind: Annotated[FactorKind | None, From.QUERY] = None


class FactorStep(Wire):
    """The view, or another step instead."""

    view: FactorView | None = None
    next: StepResponse | None = None


class ChooseFactorRequest(Wire):
    """The factor to use or to enrol; `target`: the number or the address for enrolment."""

    interaction_id: str
    kind: FactorKind
    target: str | None = Field(default=None, max_length=320)


class FactorAnswer(Wire):
    """The visitor's input or the result of the browser's API; each kind reads its own fields."""

    interaction_id: str
    kind: FactorKind
    code: str = Field(default="", max_length=1_000)
    answers: dict[str, SecurityAnswer] = Field(default_factory=dict, max_length=10)
    credential: dict[str, Any] = Field(default_factory=dict)
    state: str = Field(default="", max_length=500)
    trust: bool = False


FACTOR_LOCKS = (*LOCKS, errors.LockedDuringStep, errors.LoginDisabled, errors.TooManySessions)
FACTOR_ERRORS: Final[tuple[type[ApiError], ...]] = (
    *FACTOR_LOCKS, *errors.FactorError.__subclasses__(), *SMS_SENDING, *SMS_CODE, *EMAIL_CODE, errors.NoPhoneRegistered,
    errors.MalformedPhone,
    errors.PhoneRegistered, errors.MalformedEmail, errors.EmailNotOnProfile, errors.MailLimitReached, errors.UnknownSecurityQuestion,
    errors.WrongSecurityAnswer,
    errors.WrongQuestionOrAnswer, errors.PasskeyRefused, errors.PasskeyMisconfigured, errors.PasskeyFactorOff,
    errors.PasskeyFactorNotEnrolled,
)  # fmt: skip
"""The errors of all authenticators."""

read_factor = hub_operation(
    "hub.read_factor", "GET /hub/second-factor/{interactionid}", FactorRequest, FactorStep,
    summary="Read the view of the second factor page.",
)  # fmt: skip
choose_factor = hub_operation(
    "hub.choose_factor", "POST /hub/second-factor/choose", ChooseFactorRequest, FactorStep, errors=FACTOR_ERRORS,
    summary="Choose another factor or start enrolling one, and send its code if there is one.",
)  # fmt: skip
verify_factor = hub_operation(
    "hub.verify_factor", "POST /hub/second-factor", FactorAnswer, StepResponse, heavy_work=HASHES_SECRETS, errors=FACTOR_ERRORS,
    summary="Verify the second factor. `Data` of an error is the page's view.",
)  # fmt: skip


class NewBackupCodes(Wire):
    """The codes in clear; they are shown only once, and work after `save_backup_codes` with their `batch`."""

    codes: list[str]
    person: str = ""
    batch: str


class SaveBackupCodesRequest(Wire):
    """The codes that the person saved; an empty `batch` continues the sign-in without codes."""

    batch: str = Field(default="", max_length=64)
    interaction_id: str | None = None


create_backup_codes = hub_operation(
    "hub.create_backup_codes", "POST /hub/own/backup-codes", NoParameters, NewBackupCodes, heavy_work=HASHES,
    errors=(*REAUTHENTICATION, errors.NoSecondFactor, errors.NoBackupCodes),
    summary="Create backup codes, which replace the account's once they are saved.",
)  # fmt: skip
save_backup_codes = hub_operation(
    "hub.save_backup_codes", "POST /hub/own/backup-codes/saved", SaveBackupCodesRequest, StepResponse, errors=(errors.NotAuthenticated,),
    summary="Put new backup codes into use, and continue the sign-in; without codes only if the tenant allows that.",
)  # fmt: skip
