"""For what a passed workflow counts: for every application, unless the workflow compares something of its request."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from pydantic_core import to_json

from app.contract.workflows.nodes import HttpCallNode, RiskNode
from app.identity.authentication.sign_in.workflows.facts.sign_in_facts import SignInFacts
from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget
from app.identity.authentication.workflows.workflow import RunnableWorkflow
from app.identity.directory.tenants import profile_client
from app.kit import randomness

_ORGANIZATION: Final = "organization.id"
_OF_REQUEST: Final = frozenset({"request.client_id", "request.application", "request.scopes", _ORGANIZATION})
_OF_VISIT: Final = frozenset({"request.ip", "request.country", "request.language", "request.hour_utc"})
"""What may be another thing at each visit of a session: it counts for the application where it was judged."""
_OF_SIGN_IN: Final = frozenset(
    {"sign_in.provider", "sign_in.is_registration"}
    | {f"sign_in.is_new_{signal}" for signal in ("device", "browser", "city", "country", "ip")}
)
"""What a session does not know of the sign-in that began it."""


def key_of(workflow: RunnableWorkflow, moment: SignInMoment) -> str:
    """Return the key under which a session remembers that it passed the workflow."""
    compared = _names(workflow, workflow.graph.nodes)
    names = compared & _OF_REQUEST
    has_call = any(isinstance(node.data, HttpCallNode) for node in workflow.graph.nodes.values())
    if has_call or compared & _OF_VISIT:  # the server learns both
        names |= {"request.client_id"}
    if not names:
        return workflow.workflow_id
    client = moment.target.client
    if client is not None and client.client_id == profile_client.CLIENT_ID:
        moment = replace(
            moment, target=SignInTarget()
        )  # the account pages, which a sign-in without an application opens, too
    facts = SignInFacts(moment)
    return f"{workflow.workflow_id} {randomness.digest(to_json([facts.get(name) for name in sorted(names)]).decode())}"


def compares_organization(workflow: RunnableWorkflow) -> bool:
    """Return whether the workflow depends on the organization that the tokens will name."""
    return _ORGANIZATION in _names(workflow, workflow.graph.nodes)


def needs_sign_in(workflow: RunnableWorkflow, node_id: str | None) -> bool:
    """Return whether the workflow, from a node on, compares what only a sign-in knows, and no session of it."""
    ahead = _ahead(workflow, node_id or workflow.start.id)
    has_risk = any(isinstance(workflow.graph.nodes[item].data, RiskNode) for item in ahead)
    return has_risk or not _names(workflow, ahead).isdisjoint(_OF_SIGN_IN)


def _ahead(workflow: RunnableWorkflow, node_id: str) -> set[str]:
    """Return the nodes that a walk from this one may reach."""
    reached: set[str] = set()
    waiting = [node_id]
    while waiting:
        if (item := waiting.pop()) not in reached:
            reached.add(item)
            waiting += workflow.graph.targets(item)
    return reached


def _names(workflow: RunnableWorkflow, node_ids: Collection[str]) -> set[str]:
    return {
        name for node_id, condition in workflow.conditions.items() if node_id in node_ids for name in condition.names()
    }
