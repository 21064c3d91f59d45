"""Operations of sign-in by a phone: one browser shows a QR code, and a phone's browser approves it (decision 0241)."""

from typing import Final

from pydantic import Field

from app.contract import errors
from app.contract.catalogue import hub_operation
from app.contract.page_models import InteractionDecision, InteractionOnly, LinkLookup
from app.contract.sign_in.sign_in_pages import SIGN_IN_ERRORS
from app.contract.steps import StepResponse
from app.kit.operations.wire import Wire

CODE_MINUTES: Final = 2
"""How long a phone can open the code that a browser shows."""


class CodeStart(Wire):
    """`interaction_id`: the interaction; None begins one. `renews`: replace its code, unless that is approved."""

    interaction_id: str | None = None
    renews: bool = False


class ApprovalDecision(InteractionDecision):
    """`number`: of the browser that shows the code, as typed."""

    number: str = Field(default="", max_length=20)


begin = hub_operation(
    "hub.start_qr_code", "POST /hub/qr-code", CodeStart, StepResponse, errors=(errors.EndpointForbidden,),
    summary="Read the code of an interaction, and make one if it has none; the next step where the browser is signed in.",
)  # fmt: skip
read_state = hub_operation(
    "hub.read_qr_code_state", "POST /hub/qr-code/state", InteractionOnly, StepResponse,
    summary="Read whether a phone opened, approved or denied the code of an interaction.",
)  # fmt: skip
finish = hub_operation(
    "hub.finish_qr_code", "POST /hub/qr-code/finish", InteractionOnly, StepResponse, errors=(*SIGN_IN_ERRORS, errors.EndpointForbidden),
    summary="Sign this browser in if the phone approved it, once.",
)  # fmt: skip
open_code = hub_operation(
    "hub.open_qr_code", "POST /hub/qr-code/open", LinkLookup, StepResponse, errors=(errors.EndpointForbidden,),
    summary="Begin the interaction of the phone that opened a code.",
)  # fmt: skip
decide = hub_operation(
    "hub.decide_qr_code", "POST /hub/qr-code/decision", ApprovalDecision, StepResponse, errors=(errors.EndpointForbidden,),
    summary="Approve or deny the browser whose code the phone opened.",
)  # fmt: skip
