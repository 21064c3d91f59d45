"""workflow: the name of the workflow that the sign-in follows, one of those that the client lists."""

from app.contract import errors
from app.identity.authentication.workflows import workflow_choice
from app.identity.authentication.workflows.workflow_choice import UnlistedWorkflow
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest


def check(request: UncheckedRequest) -> None:
    name = request.values.get("workflow")
    if name is None:
        return
    try:
        workflow_choice.workflow_in_force(request.context, request.client, name)
    except UnlistedWorkflow:
        raise RefusedByRedirect("invalid_request", "The workflow is none of the client.") from None
    except errors.WorkflowGone:
        raise RefusedByRedirect("access_denied", "The workflow of the client cannot run.") from None
    request.accepted["workflow"] = name
