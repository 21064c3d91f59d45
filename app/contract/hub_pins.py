"""What the hub asks around PINs (callers H only, beside `app.contract.hub`)."""

from pydantic import Field

from app.contract import errors as e
from app.contract.emailed_links import LinkLookup, Token
from app.contract.error_groups import LINK, REAUTHENTICATION
from app.contract.groups import Posted, SecurityAnswer
from app.contract.hashing import HASHES
from app.contract.hub import Next
from app.contract.hub_account import SessionRenewal, WithPassword
from app.contract.hub_recovery import LinkView
from app.contract.operations import hub_operation
from app.kit.wire import Wire


class SetPinRequest(WithPassword):
    pin: str = Field(max_length=64)


class PinStepRequest(WithPassword):
    """Set one, or with `skip` none, where that may be."""

    attempt: str
    pin: str = Field(default="", max_length=64)
    skip: bool = False


class PinByAnswers(Wire):
    """Every question that the account answered, answered again."""

    identifier: str = Field(max_length=320)
    answers: dict[str, SecurityAnswer] = Field(max_length=10)
    pin: str = Field(max_length=64)


class PinReset(Wire):
    token: Token
    pin: str = Field(max_length=64)


set_at_sign_in = hub_operation(
    "hub.set_pin_at_sign_in", "POST /hub/pin", PinStepRequest, Next, hashing=HASHES, errors=REAUTHENTICATION,
    summary="Set the PIN that the tenant asks for, and go on with the attempt. 908: it is no PIN that may be.",
)  # fmt: skip
set_own = hub_operation(
    "hub.set_own_pin", "POST /hub/own/pin", SetPinRequest, SessionRenewal, hashing=HASHES, errors=(*REAUTHENTICATION, e.PinOff),
    summary="Set or change the signed-in person's PIN; who proves who they are need not know the one before.",
)  # fmt: skip
read_link = hub_operation(
    "hub.read_pin_link", "POST /hub/pin/look", LinkLookup, LinkView,
    summary="Read where a mailed link that resets a PIN stands; nothing is used up.",
)  # fmt: skip
by_answers = hub_operation(
    "hub.reset_pin_by_answers", "POST /hub/pin/answers", PinByAnswers, Posted, hashing=HASHES,
    errors=(e.PinOff, e.SecurityQuestionsOff, e.WrongQuestionOrAnswer),
    summary="Set a new PIN by the answers to security questions; the refusal is the same for everybody.",
)  # fmt: skip
reset = hub_operation(
    "hub.reset_pin", "POST /hub/pin/reset", PinReset, Posted, hashing=HASHES, errors=(*LINK, e.PinOff, e.NoPin, e.AccountBlocked),
    summary="Set a new PIN by a mailed link.",
)  # fmt: skip
