"""Follows a workflow's graph until it needs something or ends. Asks no server and no database: what is known, the state answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from app.contract.second_factors.challenge import FactorKind
from app.contract.workflows.expressions import Facts
from app.contract.workflows.graph import Node
from app.contract.workflows.nodes import (
    DENY,
    FAILURE,
    FALSE,
    HIGH,
    LOW,
    MEDIUM,
    NEXT,
    TRUE,
    ConditionNode,
    ConsentNode,
    DenyNode,
    FailureFinalNode,
    HttpCallNode,
    LoginNode,
    MfaNode,
    PasskeyLoginNode,
    ProfileFormNode,
    RegisterNode,
    RiskNode,
    SuccessFinalNode,
    TermsNode,
)
from app.identity.authentication.workflows.walk_results import (
    ActionNeeded,
    CallNeeded,
    Denied,
    EntryNode,
    FactorNeeded,
    Failed,
    Final,
    MethodRefused,
    Need,
    PassedNode,
    Pause,
    RedirectNeeded,
    Result,
    SignInNeeded,
    Succeeded,
)
from app.identity.authentication.workflows.workflow import RunnableWorkflow
from app.identity.authentication.workflows.workflow_run import Decision

_PASSKEY = ("passkey",)


@dataclass(frozen=True)
class CallAnswer:
    """What a server answered to an HttpCall; `failed` where it did not answer in time, or not as documented; `redirect` until the person
    comes back."""

    decision: Decision
    texts: Mapping[str, str] = field(default_factory=dict)
    """By language, of a denial."""


class SignInState(Protocol):
    """What is known about a sign-in where the walk asks."""

    @property
    def facts(self) -> Facts:
        """The facts that conditions compare; an unknown one may be absent."""

    @property
    def method(self) -> str | None:
        """How the account signed in or registered, as `SignInMethod`; None before that."""

    def has_factor(self, factors: Collection[FactorKind]) -> bool:
        """Return whether a second factor was passed: one of these, or any where there are none."""

    def is_done(self, action: ConsentNode | ProfileFormNode | TermsNode) -> bool:
        """Return whether the account has nothing to do there, because it did it before or nothing is due."""

    def answer_at(self, node_id: str) -> CallAnswer | None:
        """Return the answer to a call that this sign-in made; None before it."""


def walk(workflow: RunnableWorkflow, node_id: str, state: SignInState) -> Pause | Final:
    """Go on from a node until the sign-in needs something, or ends.

    `workflow.start.id` begins it; a pause names the node to go on from. A graph has no loops, so that each node is passed at most once.
    """
    path: list[PassedNode] = []
    while True:
        node = workflow.graph.nodes[node_id]
        step = visit(workflow, node, state)
        if isinstance(step, Need):
            return Pause(node_id, step, tuple(path))
        if isinstance(step, Result):
            return Final(node_id, step, tuple(path))
        path.append(PassedNode(node_id, node.type, step))
        node_id = workflow.graph.outputs[node_id][step]


def visit(workflow: RunnableWorkflow, node: Node, state: SignInState) -> str | Need | Result:
    """Return the output where a node continues, or what it needs, or how the sign-in ends."""
    match node.data:
        case LoginNode() | RegisterNode() | PasskeyLoginNode() as entry:
            return _enter(entry, state)
        case MfaNode(factors=factors):
            return _require_factor(factors, state)
        case ConsentNode() | ProfileFormNode() | TermsNode() as action:
            return NEXT if state.is_done(action) else ActionNeeded(action)
        case ConditionNode():
            return TRUE if workflow.conditions[node.id].is_true(state.facts) else FALSE
        case RiskNode() as risk:
            return _judge(risk, state.facts)
        case HttpCallNode() as call:
            return _call(workflow, node.id, call, state)
        case _:
            return _end(node)


def _end(node: Node) -> str | Result:
    match node.data:
        case DenyNode(text=texts):
            return Denied(texts)
        case SuccessFinalNode(claims=claims):
            return Succeeded(claims)
        case FailureFinalNode(text=texts):
            return Failed(texts)
        case _:
            return NEXT  # the start


def _enter(node: EntryNode, state: SignInState) -> str | SignInNeeded | MethodRefused:
    """Pass a sign-in or a registration by a method that the node takes."""
    if state.method is None:
        return SignInNeeded(node)
    allowed = _PASSKEY if isinstance(node, PasskeyLoginNode) else node.methods if isinstance(node, LoginNode) else ()
    return NEXT if not allowed or state.method in allowed else MethodRefused(allowed)


def _require_factor(factors: tuple[FactorKind, ...], state: SignInState) -> str | FactorNeeded:
    return NEXT if state.has_factor(factors) else FactorNeeded(factors)


def _judge(node: RiskNode, facts: Facts) -> str:
    for output, signals in ((HIGH, node.high), (MEDIUM, node.medium)):
        if any(facts.get(f"sign_in.is_new_{signal}") is True for signal in signals):
            return output
    return LOW


def _call(workflow: RunnableWorkflow, node_id: str, node: HttpCallNode, state: SignInState) -> str | Need | Denied:
    answer, outputs = state.answer_at(node_id), workflow.graph.outputs[node_id]
    if answer is None:
        return CallNeeded(node)
    decision = answer.decision
    if decision == "redirect":
        return RedirectNeeded()
    if decision == "failed":
        if FAILURE in outputs:
            return FAILURE
        decision = node.on_failure
    if decision == "deny":
        return DENY if DENY in outputs else Denied(answer.texts or node.deny_text)
    return _require_factor((), state) if decision == "step_up" else NEXT
