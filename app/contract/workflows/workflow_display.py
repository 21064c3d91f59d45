"""What pages show of the workflow in force."""

from pydantic import Field

from app.contract.organizations.settings import SignInMethod
from app.kit.operations.wire import Wire


class WorkflowDisplay(Wire):
    """What the pages of an interaction show of the workflow in force."""

    theme: str = ""  # one of the tenant's `themes`, or of none any more
    methods: list[SignInMethod] = Field(default_factory=list)  # by which people may sign in; all if empty
