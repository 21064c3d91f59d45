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
