"""Errors of workflows."""

from app.kit.operations.errors import ApiError


class UnknownWorkflow(ApiError):
    code, status, message = 8033, 404, "Workflow config not found"
    description = "There’s no workflow with this ID, or none with this version."


class WorkflowChanged(ApiError):
    code, status, message = 8196, 409, "Workflow was changed in the meantime"
    description = "The stored workflow has another Version than the request. Read it again, and repeat your change on that version."


class WorkflowInUse(ApiError):
    code, status, message = 8197, 409, "Workflow is in use"
    description = "The tenant or an application uses the workflow by its name. Choose another workflow there first."


class WorkflowDenied(ApiError):
    """`Data.Texts` has the text of the node in each of its languages, if it has one."""

    code, status, message = 8198, 403, "Sign-in is denied by a workflow"
    description = "You can’t sign in right now."
    remedy = "The tenant’s workflow refuses the sign-in. Show people `Description`, or the text of their language in `Data.Texts`."


class WorkflowActionRequired(ApiError):
    """`Data.Action` is terms, consent, profile or redirect, `Data.Fields` what the profile lacks."""

    code, status, message = 8200, 403, "A workflow requires an action first"
    description = (
        "The account must accept the terms, answer consent forms, complete its profile or visit another page first."
    )
    remedy = "Let people do it on the hosted pages, or, except for a redirect, do it from your server. Then repeat the sign-in."


class WorkflowGone(ApiError):
    code, status, message = 8199, 403, "Workflow of the sign-in is gone"
    description = "The workflow of this sign-in was deleted or can’t run. Start the sign-in again."


class WorkflowResultRefused(ApiError):
    code, status, message = 8201, 400, "Result of the workflow’s page is refused"
    description = "The person came back without a result that counts: its signature, time, account or state is wrong, or it’s missing."
