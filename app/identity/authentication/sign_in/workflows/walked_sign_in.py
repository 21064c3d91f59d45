"""What a walk through a workflow asks about a sign-in."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.sign_in.workflows import node_actions
from app.identity.authentication.sign_in.workflows.facts.sign_in_facts import SignInFacts
from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.workflows.walk import CallAnswer
from app.identity.authentication.workflows.walk_results import ActionNode
from app.identity.authentication.workflows.workflow_run import WorkflowRun
from app.identity.directory.organizations import sign_in_methods
from app.kit.caching.cached_attribute import cached_attribute


@dataclass
class WalkedSignIn:
    """A `SignInState` of `workflows/walk.py`."""

    moment: SignInMoment
    run: WorkflowRun
    answers: dict[str, CallAnswer] = field(default_factory=dict)
    """Of the calls of this request."""

    @cached_attribute
    def facts(self) -> SignInFacts:
        return SignInFacts(self.moment)

    @property
    def method(self) -> str | None:
        return self.moment.method

    def has_factor(self, factors: Collection[FactorKind]) -> bool:
        if not self.moment.is_two_factor:
            return False
        is_passkey = self.moment.method == sign_in_methods.PASSKEY  # two factors in one: it verified its user
        passed = {*self.moment.passed_factors, *self.run.passed_factors, *((FactorKind.PASSKEY,) if is_passkey else ())}
        return not factors or not passed.isdisjoint(factors)

    def is_done(self, action: ActionNode) -> bool:
        moment = self.moment
        began_at = moment.began_at or moment.context.now
        return node_actions.step(moment.context, moment.account, action, began_at) is None

    def answer_at(self, node_id: str) -> CallAnswer | None:
        if node_id in self.answers:
            return self.answers[node_id]
        decision, result = self.run.answers.get(node_id), self.run.result
        texts = result.texts if result is not None and result.node == node_id else {}
        return CallAnswer(decision, texts) if decision is not None else None
