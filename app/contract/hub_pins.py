"""What the hub asks around PINs (callers H only, beside `app.contract.hub`)."""

from pydantic import Field

from app.contract import errors as e
from app.contract.error_profiles import HUB
from app.contract.groups import Posted, SecurityAnswer
from app.contract.hub import Next
from app.contract.hub_recovery import LinkView
from app.contract.hub_self_service import PROOF_REFUSALS, Done, Proved
from app.contract.mailed import LinkRead, Token
from app.contract.operations import operation
from app.contract.passwords import LINK
from app.kit.operation import H
from app.kit.wire import Wire


class PinChosen(Proved):
    pin: str = Field(max_length=64)


class PinStep(Proved):
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


set_at_sign_in = operation(
    "hub.set_pin_at_sign_in", "POST /hub/pin", PinStep, Next, auth=H, error_profile=HUB, public=False, errors=PROOF_REFUSALS,
    summary="Set the PIN that the tenant asks for, and go on with the attempt. 908: it is no PIN that may be.",
)  # fmt: skip
set_own = operation(
    "hub.set_own_pin", "POST /hub/own/pin", PinChosen, Done, auth=H, error_profile=HUB, public=False,
    errors=(*PROOF_REFUSALS, e.PinOff),
    summary="Set or change the signed-in person's PIN; who proves who they are need not know the one before.",
)  # fmt: skip
read_link = operation(
    "hub.read_pin_link", "POST /hub/pin/look", LinkRead, LinkView, auth=H, error_profile=HUB, public=False,
    summary="Read where a mailed link that resets a PIN stands; nothing is used up.",
)  # fmt: skip
by_answers = operation(
    "hub.reset_pin_by_answers", "POST /hub/pin/answers", PinByAnswers, Posted, auth=H, error_profile=HUB, public=False,
    errors=(e.PinOff, e.SecurityQuestionsOff, e.WrongQuestionOrAnswer),
    summary="Set a new PIN by the answers to security questions; the refusal is the same for everybody.",
)  # fmt: skip
reset = operation(
    "hub.reset_pin", "POST /hub/pin/reset", PinReset, Posted, auth=H, error_profile=HUB, public=False,
    errors=(*LINK, e.PinOff, e.NoPin, e.AccountBlocked), summary="Set a new PIN by a mailed link.",
)  # fmt: skip
