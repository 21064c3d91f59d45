"""Decides by the workflow in force whether a sign-in may be completed: the one place, for every way to sign in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.contract import errors
from app.contract.organizations.settings import MethodLimit
from app.contract.second_factors.challenge import FactorKind
from app.contract.workflows.http_calls import CalledWorkflow
from app.contract.workflows.nodes import NEXT, HttpCallNode, MfaNode
from app.identity.authentication.sign_in.workflows import denials, pass_keys
from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.sign_in.workflows.walked_sign_in import WalkedSignIn
from app.identity.authentication.workflows import http_calls, walk_results, workflow_choice
from app.identity.authentication.workflows.entry_methods import methods_of
from app.identity.authentication.workflows.http_calls import CallStep
from app.identity.authentication.workflows.walk import CallAnswer, visit, walk
from app.identity.authentication.workflows.walk_results import (
    ActionNeeded,
    ActionNode,
    CallNeeded,
    EntryNode,
    FactorNeeded,
    MethodRefused,
    Pause,
    RedirectNeeded,
    SignInNeeded,
    Succeeded,
)
from app.identity.authentication.workflows.workflow import RunnableWorkflow
from app.identity.authentication.workflows.workflow_run import WaitingRedirect, WorkflowRun
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.second_factors import RequiredFactor
from app.kit.operations.errors import ApiError


@dataclass(frozen=True)
class Passed:
    """The sign-in may go on; `run` is None where no workflow is in force yet."""

    run: WorkflowRun | None


@dataclass(frozen=True)
class NeedsFactor:
    """The workflow requires a second factor, after which it goes on."""

    run: WorkflowRun
    required: RequiredFactor


@dataclass(frozen=True)
class NeedsAction:
    """The workflow requires an action of the person, after which it goes on."""

    run: WorkflowRun
    action: ActionNode | WaitingRedirect


@dataclass(frozen=True)
class NeedsSignIn:
    """The workflow compares what only a new sign-in knows."""


@dataclass(frozen=True)
class SignInDenied:
    """The workflow refuses the sign-in."""

    error: ApiError


Reached = Pause | walk_results.Final
Verdict = Passed | NeedsFactor | NeedsAction | NeedsSignIn | SignInDenied


def judge(moment: SignInMoment, run: WorkflowRun | None = None) -> Verdict:
    """Return what the workflow in force decides. Reads nothing where there is none.

    Each run leaves an audit entry. A workflow that compares the organization of the tokens waits
    until it is chosen: the authorization endpoint lets the session pass it then.

    Args:
        run: how far an earlier request of this sign-in came. It begins again where it came there for another application, or
            for other parts of its request that the workflow compares.
    """
    if run is not None and run.is_passed:
        return Passed(run)
    try:
        workflow = (
            workflow_choice.workflow_of_run(moment.context, run)
            if run is not None
            else moment.target.workflow(moment.context)
        )
    except errors.WorkflowGone as gone:
        return SignInDenied(gone)
    if workflow is None or (run is None and pass_keys.compares_organization(workflow) and moment.is_organization_open):
        return Passed(None)
    begun = _begun(moment, workflow, run)
    if (
        moment.is_earlier
        and not moment.is_refresh
        and pass_keys.needs_sign_in(workflow, begun.node)
        and not _waits(moment, workflow, begun)
    ):
        return NeedsSignIn()
    return _Run(moment, workflow, replace(begun, factors=None)).go()


def _begun(moment: SignInMoment, workflow: RunnableWorkflow, run: WorkflowRun | None) -> WorkflowRun:
    """Return the run that goes on; one of another key gives only the second factors, which the person passed in any case."""
    key = pass_keys.key_of(workflow, moment)
    if run is not None and run.key == key:
        return run
    factors = run.passed_factors if run is not None else ()
    return WorkflowRun(workflow.workflow_id, workflow.version, key, uid=moment.account.uid, passed_factors=factors)


def _waits(moment: SignInMoment, workflow: RunnableWorkflow, run: WorkflowRun) -> bool:
    """Return whether the node at which the sign-in waits is still to be done: it comes before what requires a new sign-in."""
    if run.node is None:
        return False
    node = workflow.graph.nodes[run.node]
    return isinstance(visit(workflow, node, WalkedSignIn(moment, run)), ActionNeeded | RedirectNeeded)


@dataclass
class _Run:
    """One run through a workflow, from where the sign-in stands to an end, or to a node that waits."""

    moment: SignInMoment
    workflow: RunnableWorkflow
    run: WorkflowRun
    path: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    """For the audit entry."""

    def go(self) -> Verdict:
        node_id = self.run.node or self.workflow.start.id
        state = WalkedSignIn(self.moment, self.run)
        if (result := self.run.result) is not None and result.problem:
            self.facts["failures"] = {result.node: result.problem}
            self.run = replace(self.run, result=replace(result, problem=""))
        while True:
            reached = walk(self.workflow, node_id, state)
            self.path += [f"{node.node_id}:{node.output}" for node in reached.path]
            node_id = reached.node_id
            if isinstance(reached, Pause) and isinstance(reached.need, CallNeeded):
                state.answers[node_id] = self._call(node_id, reached.need.node)
            elif self._passes(reached):
                self.path.append(f"{node_id}:{NEXT}")
                node_id = self.workflow.graph.outputs[node_id][NEXT]
            else:
                verdict = self._verdict(reached)
                self._record(node_id, verdict)
                return verdict

    def _passes(self, reached: Reached) -> bool:
        """Return whether the node does not concern this sign-in: a token that no sign-in began passes an entry for all methods, and a
        refresh every node but conditions, calls and ends.
        """
        if isinstance(reached, Pause) and isinstance(reached.need, SignInNeeded) and not methods_of(reached.need.node):
            return True
        node = self.workflow.graph.nodes[reached.node_id]
        return self.moment.is_refresh and isinstance(node.data, EntryNode | ActionNode | MfaNode)

    def _verdict(self, reached: Reached) -> Verdict:
        run = replace(self.run, node=reached.node_id)
        match reached.need if isinstance(reached, Pause) else reached.result:
            case FactorNeeded(factors=factors):
                return self._needs_factor(replace(run, factors=factors), factors)
            case ActionNeeded(node=node):
                return NeedsAction(run, node)
            case RedirectNeeded() if run.redirect is not None:
                return NeedsAction(run, run.redirect)
            case SignInNeeded(node=entry):
                return self._needs_method(methods_of(entry))
            case MethodRefused(methods=methods):
                return self._needs_method(methods)
            case Succeeded(claims=claims):
                claimed = {**self.run.claims, **claims}
                return Passed(replace(self.run, node=None, is_passed=True, claims=claimed, answers={}))
            case ended:
                return SignInDenied(denials.error(self.moment.context, getattr(ended, "texts", {})))

    def _needs_method(self, methods: tuple[str, ...]) -> SignInDenied:
        self.facts["reason"] = "method"
        named = {"organization": self.moment.context.tenant.display_name, "allowed_methods": list(methods)}
        limit = MethodLimit.model_validate(named).model_dump(by_alias=True)
        sentence = f"The sign-in requires another method: {', '.join(methods)}."
        return SignInDenied(errors.LoginNotAllowed(sentence, data=limit))

    def _needs_factor(self, run: WorkflowRun, accepted: tuple[FactorKind, ...]) -> NeedsFactor | SignInDenied:
        context, account = self.moment.context, self.moment.account
        channel = self.moment.authentication.channel
        try:
            required = second_factors.factor_required_by_workflow(context, account, channel, accepted)
        except errors.TwoFactorOn as only_factor_was_used:
            self.facts["reason"] = "only factor was used"
            return SignInDenied(only_factor_was_used)
        if required is None:
            self.facts["reason"] = "no factor"
            return SignInDenied(denials.missing_factor(context, accepted))
        return NeedsFactor(run, required)

    def _call(self, node_id: str, node: HttpCallNode) -> CallAnswer:
        """Ask the tenant’s server; what it sets is kept until the sign-in passes."""
        called = CalledWorkflow(id=self.workflow.workflow_id, name=self.workflow.name, version=self.workflow.version)
        step = CallStep(called, node_id, node)
        answer = http_calls.call(self.moment.context, step, self.moment.account, self.moment.called)
        self.facts.setdefault("calls", {})[node_id] = answer.milliseconds
        self.run, answer = http_calls.answered(self.run, node_id, answer)
        if answer.failure:
            self.facts.setdefault("failures", {})[node_id] = f"{answer.failure}: {answer.problem}"
        return answer

    def _record(self, node_id: str, verdict: Verdict) -> None:
        """Record the run in the audit log: which way it took, and how it ended."""
        moment = self.moment
        moment.context.audit.record(
            "workflow.run",
            uid=moment.account.uid,
            client_id=moment.target.client.client_id if moment.target.client is not None else None,
            workflow=self.workflow.workflow_id,
            name=self.workflow.name,
            version=self.workflow.version,
            path=[*self.path, node_id],
            outcome=_OUTCOMES[type(verdict)],
            **self.facts,
        )


_OUTCOMES: Final[Mapping[type[Any], str]] = {
    Passed: "passed", NeedsFactor: "factor", NeedsAction: "action", SignInDenied: "denied",
}  # fmt: skip
