"""The return of people from a page of the tenant, to which a workflow sent them."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from app.contract.catalogue import hub_operation
from app.contract.shared_responses import Posted
from app.contract.workflows.errors import WorkflowResultRefused
from app.kit.operations.wire import From, Wire

RETURN_PATH: Final = "/continue"
"""Of the page of each sign-in host that sends people there, and to which they come back."""
MAX_RESULT_LENGTH: Final = 6_000


class ReturnedResult(Wire):
    """The parameters with which the browser came back."""

    interaction_id: Annotated[str, From.PATH]
    state: str = Field(max_length=200)
    result: str = Field(max_length=MAX_RESULT_LENGTH)


accept_result = hub_operation(
    "hub.accept_workflow_result", "POST /hub/interactions/{interactionid}/workflow-result", ReturnedResult, Posted,
    errors=(WorkflowResultRefused,),
    summary="Take the signed result of a page that a workflow sent the visitor to; nothing happens where none waits for it any more.",
)  # fmt: skip
