"""What people see of the workflow in force before they sign in: the first page, its methods, and the theme."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from app.contract import errors
from app.contract.step_reasons import LoginReason
from app.contract.steps import LoginStep, RegisterStep
from app.contract.workflows.nodes import RegisterNode
from app.contract.workflows.workflow_display import WorkflowDisplay
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.workflows import denials, sign_in_target
from app.identity.authentication.sign_in.workflows.facts.sign_in_facts import RequestFacts
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget
from app.identity.authentication.workflows.entry_methods import can_begin, methods_of
from app.identity.authentication.workflows.walk import walk
from app.identity.authentication.workflows.walk_results import Denied, EntryNode, Failed, Pause, SignInNeeded
from app.identity.authentication.workflows.workflow import RunnableWorkflow
from app.identity.platform.context import Context


def first_step(context: Context, target: SignInTarget) -> LoginStep | RegisterStep:
    """Return the step with which a visitor begins. One whom the workflow refuses before the sign-in reads why at once."""
    try:
        workflow = target.workflow(context)
    except errors.WorkflowGone:
        return _refused(context, {})
    if workflow is None:
        return LoginStep()
    entry = _entry(context, target, workflow)
    if not isinstance(entry, EntryNode):
        return _refused(context, entry)
    if isinstance(entry, RegisterNode):
        return RegisterStep() if context.tenant.settings.registration else LoginStep()
    return LoginStep() if can_begin(context.tenant.settings, methods_of(entry)) else _refused(context, {})


def display(context: Context, target: SignInTarget) -> WorkflowDisplay | None:
    """Return what the pages show of the workflow; None where none is in force."""
    try:
        workflow = target.workflow(context)
    except errors.WorkflowGone:
        return None
    if workflow is None:
        return None
    entry = _entry(context, target, workflow)
    named = methods_of(entry) if isinstance(entry, EntryNode) else ()
    return WorkflowDisplay.model_validate({"theme": workflow.theme_name, "methods": list(named)})


def display_of(context: Context, interaction: Interaction) -> WorkflowDisplay | None:
    """Return what the pages of an interaction show of its workflow."""
    return display(context, sign_in_target.of_interaction(context, interaction))


def _entry(context: Context, target: SignInTarget, workflow: RunnableWorkflow) -> EntryNode | Mapping[str, str]:
    """Return the entry that the conditions about the request lead to, or the texts of a refusal."""
    reached = walk(workflow, workflow.start.id, _Visit(RequestFacts(context, target)))
    if isinstance(reached, Pause):
        return reached.need.node if isinstance(reached.need, SignInNeeded) else {}
    return reached.result.texts if isinstance(reached.result, Denied | Failed) else {}


def _refused(context: Context, texts: Mapping[str, str]) -> LoginStep:
    return LoginStep(reason=LoginReason.CLOSED, denial=denials.text_of(context, denials.offered(texts)))


@dataclass(frozen=True)
class _Visit:
    """A `SignInState` of a visitor whom nobody knows yet; before an entry, a workflow has only conditions about the request."""

    facts: RequestFacts
    method: None = None

    def has_factor(self, factors: Collection[object]) -> bool:  # noqa: ARG002 - the protocol's signature
        return False

    def is_done(self, action: object) -> bool:  # noqa: ARG002 - the protocol's signature
        return False

    def answer_at(self, node_id: str) -> None:
        """No server was asked."""
