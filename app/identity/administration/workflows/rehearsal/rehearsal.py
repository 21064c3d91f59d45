"""Follows a draft with past sign-ins, and counts. The memory does not grow with their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from app.contract.workflows import conditions
from app.contract.workflows.graph import Graph, Node
from app.contract.workflows.nodes import ConditionNode, ProfileFormNode, TermsNode
from app.contract.workflows.workflow_trials import AssumedCall, TriedStep, UnknownFact, WorkflowTrial
from app.identity.administration.workflows.rehearsal import past_facts, past_sign_ins
from app.identity.administration.workflows.rehearsal.past_sign_ins import NeededParts, PastSignIn
from app.identity.administration.workflows.rehearsal.verdicts import ACTION, FACTOR, Trial, Verdict, verdict
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
    asked: Counter[str] = field(default_factory=Counter)
    unknown_facts: Counter[str] = field(default_factory=Counter)
    oldest: datetime | None = None


@dataclass(frozen=True)
class Span:
    """The time of the sign-ins, and how many of them are tried at most."""

    since: datetime
    until: datetime
    most: int | None = None


class Rehearsal:
    """A draft, and what it would have done so far. The graph has no loop and no unknown node."""

    def __init__(self, context: Context, graph: Graph, assumed: AssumedCall = "Unknown") -> None:
        self._context, self._graph, self._assumed = context, graph, assumed
        self._order = list(_in_order(graph))
        self._tallies = {node.id: _Tally() for node in self._order}
        self._counts = _Counts()

    def run(self, span: Span) -> WorkflowTrial:
        """Try the draft on the sign-ins of a time, the newest first."""
        for page in past_sign_ins.pages(self._context, span.since, span.until, needed_parts(self._graph)):
            for past in page:
                if span.most is not None and self._counts.sign_ins >= span.most:
                    return self._result(span, is_complete=False)
                self._take(past)
        return self._result(span, is_complete=True)

    def _take(self, past: PastSignIn) -> None:
        self._counts.sign_ins += 1
        self._counts.oldest = past.at
        trial = Trial(self._context, past, self._assumed)
        asked: set[str] = set()
        node: Node | None = self._graph.starts[0]
        while node is not None and node.data is not None:
            trial.outputs = self._graph.outputs[node.id]
            found = verdict(node.data, trial)
            self._count(node, found)
            if found.asks:
                asked.add(found.asks)
            trial.has_factor = trial.has_factor or found.asks == FACTOR
            node = self._graph.nodes[trial.outputs[found.output]] if found.output is not None else None
        self._counts.asked.update(asked)

    def _count(self, node: Node, found: Verdict) -> None:
        tally, counts = self._tallies[node.id], self._counts
        tally.reached += 1
        tally.asked += bool(found.asks)
        tally.unknown += found.is_unknown
        counts.unknown_facts.update(found.unknown_facts)
        if found.output is not None:
            tally.outputs[found.output] += 1
        elif found.is_unknown:
            counts.unknown += 1
        elif found.is_passed:
            counts.passed += 1
        else:
            counts.stopped += 1
            tally.stopped += 1

    def _result(self, span: Span, *, is_complete: bool) -> WorkflowTrial:
        counts = self._counts
        return WorkflowTrial(
            since=iso(span.since) or "", until=iso(span.until) or "", is_complete=is_complete, oldest=iso(counts.oldest),
            sign_ins=counts.sign_ins, passed=counts.passed, stopped=counts.stopped, unknown=counts.unknown,
            asked_for_factor=counts.asked[FACTOR], asked_to_act=counts.asked[ACTION],
            steps=[_step(node, self._tallies[node.id]) for node in self._order],
            unknown_facts=[UnknownFact(name=name, sign_ins=count) for name, count in sorted(counts.unknown_facts.items())],
            current_facts=sorted(_names(self._graph) & past_facts.AS_NOW),
        )  # fmt: skip


def needed_parts(graph: Graph) -> NeededParts:
    """Return what of the accounts a draft looks at."""
    names = _names(graph)
    has_forms = any(isinstance(node.data, ProfileFormNode | TermsNode) for node in graph.nodes.values())
    return NeededParts(
        accounts=has_forms or bool(names & past_facts.OF_ACCOUNT), credentials=bool(names & past_facts.OF_CREDENTIALS)
    )


def compares_accounts(graph: Graph) -> bool:
    """Return whether the counts of a draft tell something of accounts: who may only read workflows must not learn it."""
    names = _names(graph)
    return needed_parts(graph).accounts or any(name.startswith("account.") for name in names)


def _names(graph: Graph) -> frozenset[str]:
    """Return the facts that the conditions of a draft compare."""
    expressions = [node.data.expression for node in graph.nodes.values() if isinstance(node.data, ConditionNode)]
    return frozenset(name for text in expressions for name in conditions.parse(text).names())


def _in_order(graph: Graph) -> Iterator[Node]:
    """Yield the nodes that can be reached, each after those that lead to it."""
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
