"""Decides by the workflow in force whether a sign-in may be completed: the one place, for every way to sign in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.contract import errors
from app.contract.organizations.settings import MethodLimit
from app.contract.second_factors.challenge import FactorKind
from app.contract.workflows import conditions
from app.contract.workflows.graph import Node
from app.contract.workflows.nodes import (
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
    LoginNode,
    MfaNode,
    NodeData,
    PasskeyLoginNode,
    ProfileFormNode,
    RegisterNode,
    RiskNode,
    StartNode,
    SuccessFinalNode,
    TermsNode,
)
from app.identity.authentication.sign_in.workflows import denials
from app.identity.authentication.sign_in.workflows.sign_in_facts import SignInFacts, SignInMoment
from app.identity.authentication.workflows import workflow_choice
from app.identity.authentication.workflows.workflow_choice import RunnableWorkflow
from app.identity.authentication.workflows.workflow_run import WorkflowRun
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.second_factors import RequiredFactor
from app.identity.directory.organizations import sign_in_methods
from app.kit.operations.errors import ApiError


@dataclass(frozen=True)
class Passed:
    """The sign-in may go on; `run` is None where no workflow is in force."""

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
    node: Node


@dataclass(frozen=True)
class Denied:
    """The workflow refuses the sign-in."""

    error: ApiError


Verdict = Passed | NeedsFactor | NeedsAction | Denied
_Visit = str | Passed | NeedsFactor | NeedsAction | Denied
"""The output at which a node is left, or the end of the walk."""


def judge(moment: SignInMoment, run: WorkflowRun | None = None) -> Verdict:
    """Return what the workflow in force decides. Reads nothing where there is none.

    Call it before anything is written. Each run leaves an audit entry.

    Args:
        run: how far an earlier request of this sign-in came.
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
        return Denied(gone)
    if workflow is None:
        return Passed(None)
    return _Walk(moment, workflow, replace(run, factors=None) if run is not None else workflow.new_run).go()


@dataclass
class _Walk:
    """One run through a workflow, from where the sign-in stands to an end, or to a node that waits."""

    moment: SignInMoment
    workflow: RunnableWorkflow
    run: WorkflowRun
    path: list[str] = field(default_factory=list)
    reason: str = ""

    def go(self) -> Verdict:
        node = self.workflow.graph.nodes[self.run.node or self.workflow.start_id]
        while isinstance(visit := self._visit(node), str):
            self.path.append(f"{node.id}:{visit}")
            node = self.workflow.graph.nodes[self.workflow.graph.outputs[node.id][visit]]
        self._record(node, visit)
        return visit

    def _visit(self, node: Node) -> _Visit:
        data = node.data
        visit = _VISITS.get(type(data))
        if data is None or visit is None:
            return self._denied("foreign node")
        return visit(self, node, data)

    def _start(self, node: Node, data: StartNode) -> _Visit:  # noqa: ARG002 - as every visit
        return NEXT

    def _login(self, node: Node, data: LoginNode) -> _Visit:  # noqa: ARG002 - as every visit
        return self._entry(data.methods)

    def _passkey_login(self, node: Node, data: PasskeyLoginNode) -> _Visit:  # noqa: ARG002 - as every visit
        return self._entry((sign_in_methods.PASSKEY,))

    def _register(self, node: Node, data: RegisterNode) -> _Visit:  # noqa: ARG002 - as every visit
        return NEXT

    def _entry(self, methods: tuple[str, ...]) -> _Visit:
        if self.moment.is_refresh or not methods or self.moment.method in methods:
            return NEXT
        self.reason = "method"
        limit = MethodLimit.model_validate(
            {"organization": self.moment.context.tenant.display_name, "allowed_methods": list(methods)}
        )
        sentence = f"The sign-in requires another method: {', '.join(methods)}."
        return Denied(errors.LoginNotAllowed(sentence, data=limit.model_dump(by_alias=True)))

    def _mfa(self, node: Node, data: MfaNode) -> _Visit:
        if self.moment.is_refresh or self._has_factor(data.factors):
            return NEXT
        return self._needs_factor(node, data.factors)

    def _has_factor(self, accepted: tuple[FactorKind, ...]) -> bool:
        if not self.moment.is_two_factor:
            return False
        is_passkey = self.moment.method == sign_in_methods.PASSKEY  # with two factors in one: it verified its user
        passed = {*self.run.passed_factors, *((FactorKind.PASSKEY,) if is_passkey else ())}
        return not accepted or not passed.isdisjoint(accepted)

    def _needs_factor(self, node: Node, accepted: tuple[FactorKind, ...]) -> _Visit:
        context, account = self.moment.context, self.moment.account
        try:
            required = second_factors.factor_required_by_workflow(
                context, account, self.moment.authentication.channel, accepted
            )
        except errors.TwoFactorOn as only_factor_was_used:
            self.reason = "only factor was used"
            return Denied(only_factor_was_used)
        if required is None:
            return self._denied("no factor")
        return NeedsFactor(replace(self.run, node=node.id, factors=accepted), required)

    def _condition(self, node: Node, data: ConditionNode) -> _Visit:  # noqa: ARG002 - as every visit
        return TRUE if conditions.parse(data.expression).is_true(SignInFacts(self.moment)) else FALSE

    def _risk(self, node: Node, data: RiskNode) -> _Visit:  # noqa: ARG002 - as every visit
        new = self.moment.new_signals
        return HIGH if new.intersection(data.high) else MEDIUM if new.intersection(data.medium) else LOW

    def _action(self, node: Node, data: NodeData) -> _Visit:  # noqa: ARG002 - as every visit
        if self.moment.is_refresh:
            return NEXT
        return NeedsAction(replace(self.run, node=node.id), node)

    def _deny(self, node: Node, data: DenyNode | FailureFinalNode) -> _Visit:  # noqa: ARG002 - as every visit
        return Denied(denials.error(self.moment.context, data.text))

    def _success(self, node: Node, data: SuccessFinalNode) -> _Visit:  # noqa: ARG002 - as every visit
        claims = {**self.run.claims, **data.claims}
        return Passed(replace(self.run, node=None, is_passed=True, claims=claims, answers={}))

    def _denied(self, reason: str) -> Denied:
        self.reason = reason
        return Denied(denials.error(self.moment.context, {}))

    def _record(self, node: Node, verdict: Verdict) -> None:
        """Record the run in the audit log: which way it took, and how it ended."""
        moment, facts = self.moment, {"reason": self.reason} if self.reason else {}
        moment.context.audit.record(
            "workflow.run",
            uid=moment.account.uid,
            client_id=moment.target.client.client_id if moment.target.client is not None else None,
            workflow=self.workflow.workflow_id,
            name=self.workflow.name,
            version=self.workflow.version,
            path=[*self.path, node.id],
            outcome=_OUTCOMES[type(verdict)],
            **facts,
        )


_VISITS: Final[Mapping[type[Any], Callable[[_Walk, Node, Any], _Visit]]] = {
    StartNode: _Walk._start,
    LoginNode: _Walk._login,
    PasskeyLoginNode: _Walk._passkey_login,
    RegisterNode: _Walk._register,
    MfaNode: _Walk._mfa,
    ConditionNode: _Walk._condition,
    RiskNode: _Walk._risk,
    TermsNode: _Walk._action,
    ConsentNode: _Walk._action,
    ProfileFormNode: _Walk._action,
    DenyNode: _Walk._deny,
    FailureFinalNode: _Walk._deny,
    SuccessFinalNode: _Walk._success,
}
"""What each type of node does."""
_OUTCOMES: Final[Mapping[type[Any], str]] = {
    Passed: "passed", NeedsFactor: "factor", NeedsAction: "action", Denied: "denied",
}  # fmt: skip
