"""Follows a draft with past sign-ins, and counts. The memory does not grow with their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from app.contract.workflows.graph import Graph, Node
from app.contract.workflows.nodes import NEXT, ProfileFormNode, TermsNode
from app.contract.workflows.workflow_trials import AssumedCall, TriedStep, UnknownFact, WorkflowTrial
from app.identity.administration.workflows.rehearsal import past_facts, past_sign_ins
from app.identity.administration.workflows.rehearsal.past_sign_ins import NeededParts, PastSignIn
from app.identity.administration.workflows.rehearsal.past_state import (
    UNKNOWN_METHOD,
    CertainCondition,
    PastState,
    Undecided,
)
from app.identity.authentication.workflows import walk
from app.identity.authentication.workflows.walk_results import (
    ActionNeeded,
    FactorNeeded,
    MethodRefused,
    Need,
    Result,
    Succeeded,
)
from app.identity.authentication.workflows.workflow import RunnableWorkflow
from app.identity.platform.context import Context
from app.kit.clock import iso


@dataclass
class _Tally:
    """The counts of one node."""

    reached: int = 0
    outputs: Counter[str] = field(default_factory=Counter)
    stopped: int = 0
    asked: int = 0
    unknown: int = 0


@dataclass
class _Counts:
    """The counts of all sign-ins."""

    sign_ins: int = 0
    passed: int = 0
    stopped: int = 0
    unknown: int = 0
    asked_for_factor: int = 0
    asked_to_act: int = 0
    unknown_facts: Counter[str] = field(default_factory=Counter)
    oldest: datetime | None = None


@dataclass(frozen=True)
class Span:
    """The time of the sign-ins, and how many of them are tried at most."""

    since: datetime
    until: datetime
    most: int | None = None


class Rehearsal:
    """A draft, and what it would have done so far."""

    def __init__(self, context: Context, draft: RunnableWorkflow, assumed: AssumedCall = "Unknown") -> None:
        certain = {node_id: CertainCondition(item) for node_id, item in draft.conditions.items()}
        self._context, self._draft, self._assumed = context, replace(draft, conditions=certain), assumed
        self._order = list(_in_order(draft.graph))
        self._tallies = {node.id: _Tally() for node in self._order}
        self._counts = _Counts()

    def run(self, span: Span) -> WorkflowTrial:
        """Try the draft on the sign-ins of a time, the newest first."""
        for page in past_sign_ins.pages(self._context, span.since, span.until, needed_parts(self._draft)):
            for past in page:
                if span.most is not None and self._counts.sign_ins >= span.most:
                    return self._result(span, is_complete=False)
                self._take(past)
        return self._result(span, is_complete=True)

    def _take(self, past: PastSignIn) -> None:
        self._counts.sign_ins += 1
        self._counts.oldest = past.at
        state = PastState(self._context, past, self._assumed)
        node, acts = self._draft.start, False
        while True:
            tally = self._tallies[node.id]
            tally.reached += 1
            try:
                step = self._visit(node, state, tally)
            except Undecided as undecided:
                self._leave_undecided(tally, undecided)
                break
            acts = acts or isinstance(step, ActionNeeded)
            if isinstance(step, Result):
                self._end(step, tally)
                break
            output = step if isinstance(step, str) else NEXT
            tally.outputs[output] += 1
            node = self._draft.graph.nodes[self._draft.graph.outputs[node.id][output]]
        self._counts.asked_for_factor += state.is_asked_for_factor
        self._counts.asked_to_act += acts

    def _visit(self, node: Node, state: PastState, tally: _Tally) -> str | Need | Result:
        """Return where the sign-in goes on, or how it ends; what the node asks for, the person is assumed to do."""
        state.is_doubtful = False
        step = walk.visit(self._draft, node, state)
        if isinstance(step, MethodRefused) and state.method == UNKNOWN_METHOD:
            raise Undecided
        state.is_asked_for_factor = state.is_asked_for_factor or isinstance(step, FactorNeeded)
        tally.asked += isinstance(step, Need)
        tally.unknown += state.is_doubtful
        return step

    def _leave_undecided(self, tally: _Tally, undecided: Undecided) -> None:
        tally.unknown += 1
        self._counts.unknown += 1
        self._counts.unknown_facts.update(undecided.names)

    def _end(self, result: Result, tally: _Tally) -> None:
        if isinstance(result, Succeeded):
            self._counts.passed += 1
        else:
            self._counts.stopped += 1
            tally.stopped += 1

    def _result(self, span: Span, *, is_complete: bool) -> WorkflowTrial:
        counts = self._counts
        return WorkflowTrial(
            since=iso(span.since) or "", until=iso(span.until) or "", is_complete=is_complete, oldest=iso(counts.oldest),
            sign_ins=counts.sign_ins, passed=counts.passed, stopped=counts.stopped, unknown=counts.unknown,
            asked_for_factor=counts.asked_for_factor, asked_to_act=counts.asked_to_act,
            steps=[_step(node, self._tallies[node.id]) for node in self._order],
            unknown_facts=[UnknownFact(name=name, sign_ins=count) for name, count in sorted(counts.unknown_facts.items())],
            current_facts=sorted(_names(self._draft) & past_facts.AS_NOW),
        )  # fmt: skip


def needed_parts(draft: RunnableWorkflow) -> NeededParts:
    """Return what of the accounts a draft looks at."""
    names = _names(draft)
    has_forms = any(isinstance(node.data, ProfileFormNode | TermsNode) for node in draft.graph.nodes.values())
    return NeededParts(
        accounts=has_forms or bool(names & past_facts.OF_ACCOUNT), credentials=bool(names & past_facts.OF_CREDENTIALS)
    )


def compares_accounts(draft: RunnableWorkflow) -> bool:
    """Return whether the counts of a draft tell something of accounts: who may only read workflows must not learn it."""
    return needed_parts(draft).accounts or any(name.startswith("account.") for name in _names(draft))


def _names(draft: RunnableWorkflow) -> frozenset[str]:
    """Return the facts that the conditions of a draft compare."""
    return frozenset(name for condition in draft.conditions.values() for name in condition.names())


def _in_order(graph: Graph) -> Iterator[Node]:
    """Yield the nodes, each after those that lead to it."""
    waiting_for = Counter(target for node_id in graph.nodes for target in graph.targets(node_id))
    ready = [node.id for node in graph.starts]
    while ready:
        node_id = ready.pop(0)
        yield graph.nodes[node_id]
        for target in graph.targets(node_id):
            waiting_for[target] -= 1
            if not waiting_for[target]:
                ready.append(target)


def _step(node: Node, tally: _Tally) -> TriedStep:
    return TriedStep(
        node=node.id, type=node.type, label=node.data.label if node.data is not None else "", reached=tally.reached,
        outputs=dict(tally.outputs), stopped=tally.stopped, asked=tally.asked, unknown=tally.unknown,
    )  # fmt: skip
