"""Operations of the page on which a person allows a device without a browser (RFC 8628 section 3.3)."""

from typing import Annotated

from pydantic import Field

from app.contract.catalogue import hub_operation
from app.contract.page_models import InteractionDecision
from app.contract.steps import StepResponse
from app.kit.operations.wire import Wire


class UserCode(Wire):
    """The code as typed, or as a QR code's address has it."""

    user_code: Annotated[str, Field(max_length=40)]


begin = hub_operation(
    "hub.start_device", "POST /hub/device", UserCode, StepResponse,
    summary="Begin the interaction of a device's code; DEVICE_CODE with the problem `wrong` for an unknown, used or expired one.",
)  # fmt: skip

decide = hub_operation(
    "hub.decide_device", "POST /hub/device/decision", InteractionDecision, StepResponse,
    summary="Allow or deny the device of an interaction; DEVICE_DONE with what was decided.",
)  # fmt: skip
