"""The names of workflows, by which the tenant, applications and sign-ins choose them."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field

MAX_WORKFLOW_NAME: Final = 100


def _name(text: str) -> str:
    if text != text.strip() or not text.isprintable():
        raise ValueError("a name without control characters, and without blanks at its ends")
    return text


WorkflowName = Annotated[str, Field(min_length=1, max_length=MAX_WORKFLOW_NAME), AfterValidator(_name)]
