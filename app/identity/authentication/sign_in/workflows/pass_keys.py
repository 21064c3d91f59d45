"""For what a passed workflow counts: for every application, unless the workflow compares something of its request."""

from __future__ import annotations

from typing import Final

from pydantic_core import to_json

from app.contract.workflows.nodes import HttpCallNode, RiskNode
from app.identity.authentication.sign_in.workflows.sign_in_facts import SignInFacts
from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.workflows.workflow import RunnableWorkflow
from app.kit import randomness

_OF_REQUEST: Final = frozenset({"request.client_id", "request.application", "request.scopes", "organization.id"})
_OF_SIGN_IN: Final = frozenset(
    {"sign_in.provider", "sign_in.is_registration"}
    | {f"sign_in.is_new_{signal}" for signal in ("device", "browser", "city", "country", "ip")}
)
"""What a session does not know of the sign-in that began it."""


def key_of(workflow: RunnableWorkflow, moment: SignInMoment) -> str:
    """Return the key under which a session remembers that it passed the workflow."""
    names = _names(workflow) & _OF_REQUEST
    if any(isinstance(node.data, HttpCallNode) for node in workflow.graph.nodes.values()):
        names |= {"request.client_id"}  # which the server learns
    if not names:
        return workflow.workflow_id
    facts = SignInFacts(moment)
    return f"{workflow.workflow_id} {randomness.digest(to_json([facts.get(name) for name in sorted(names)]).decode())}"


def needs_sign_in(workflow: RunnableWorkflow) -> bool:
    """Return whether the workflow compares what only a sign-in knows, and no session of it."""
    has_risk = any(isinstance(node.data, RiskNode) for node in workflow.graph.nodes.values())
    return has_risk or not _names(workflow).isdisjoint(_OF_SIGN_IN)


def _names(workflow: RunnableWorkflow) -> set[str]:
    return {name for condition in workflow.conditions.values() for name in condition.names()}
