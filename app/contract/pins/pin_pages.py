"""Operations for PINs."""

from pydantic import Field

from app.contract import errors
from app.contract.catalogue import HASHES, hub_operation
from app.contract.error_groups import LINK, REAUTHENTICATION
from app.contract.page_models import LinkLookup, Token
from app.contract.recovery.recovery_pages import RecoveryLinkView
from app.contract.shared_parameters import SecurityAnswer
from app.contract.shared_responses import Posted
from app.contract.steps import StepResponse
from app.kit.operations.wire import Wire


class SetPinRequest(Wire):
    pin: str = Field(max_length=64)


class PinStepRequest(Wire):
    """Set a PIN, or skip it if it is optional."""

    interaction_id: str
    pin: str = Field(default="", max_length=64)
    skip: bool = False


class PinByAnswers(Wire):
    """The answers to all security questions of the account."""

    identifier: str = Field(max_length=320)
    answers: dict[str, SecurityAnswer] = Field(max_length=10)
    pin: str = Field(max_length=64)


class PinReset(Wire):
    token: Token
    pin: str = Field(max_length=64)


set_at_sign_in = hub_operation(
    "hub.set_pin_at_sign_in", "POST /hub/pin", PinStepRequest, StepResponse, heavy_work=HASHES, errors=REAUTHENTICATION,
    summary="Set the PIN that the tenant requires, and continue the interaction. 908: the PIN is not allowed.",
)  # fmt: skip
set_own = hub_operation(
    "hub.set_own_pin", "POST /hub/own/pin", SetPinRequest, Posted, reauthentication=True, errors=(errors.PinOff,),
    summary="Set or change the account's PIN; after reauthentication the old PIN is not needed.",
)  # fmt: skip
read_link = hub_operation(
    "hub.read_pin_link", "POST /hub/pin/look", LinkLookup, RecoveryLinkView,
    summary="Read the state of an emailed link that resets a PIN, without using it.",
)  # fmt: skip
by_answers = hub_operation(
    "hub.reset_pin_by_answers", "POST /hub/pin/answers", PinByAnswers, Posted, heavy_work=HASHES,
    errors=(errors.PinOff, errors.SecurityQuestionsOff, errors.WrongQuestionOrAnswer),
    summary="Set a new PIN with the answers to security questions; the error is the same for every identifier.",
)  # fmt: skip
reset = hub_operation(
    "hub.reset_pin", "POST /hub/pin/reset", PinReset, Posted, heavy_work=HASHES,
    errors=(*LINK, errors.PinOff, errors.NoPin, errors.AccountBlocked),
    summary="Set a new PIN with an emailed link.",
)  # fmt: skip
