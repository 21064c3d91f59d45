"""The run of a session, in the interaction where it passes a workflow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from app.contract import errors
from app.contract.workflows.http_calls import CONTINUE, STEP_UP
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import NEW, InteractionState
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.workflows import pass_keys
from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.workflows.workflow_run import WorkflowRun
from app.identity.platform.context import Context

_FOR_NEW: Final = "workflow run of a new interaction"


def of(interaction: Interaction | None, session_id: str, key: str | None = None) -> WorkflowRun | None:
    """Return how far the session came in the interaction; what another one reached there does not count.

    Args:
        key: of the workflow, see `WorkflowRun`; None for any.
    """
    state = interaction.state if interaction is not None else NEW
    run = _stored(state) if state.workflow_session_id == session_id else None
    return run if run is not None and key in (None, run.key) else None


def keep(context: Context, interaction: Interaction | None, session_id: str, run: WorkflowRun) -> None:
    """Store how far a session came, so that the next request goes on from there; without an interaction, in the one that begins now."""
    stored: dict[str, Any] = {"workflow_run": run.to_stored(), "workflow_session_id": session_id}
    if interaction is None:
        context.remembered[_FOR_NEW] = stored
    elif not interaction.is_done:
        interactions.save(context, interaction, replace(interaction.state, **stored))


def for_new(context: Context) -> dict[str, Any]:
    """Return the members of the state of an interaction that begins in this request, which has no run if there is nothing."""
    found: dict[str, Any] = context.remembered.get(_FOR_NEW) or {}
    return found


def to_repeat(moment: SignInMoment) -> WorkflowRun | None:
    """Return the run of a sign-in that repeats an earlier one of the interaction, because the workflow requires a factor or a new sign-in.

    It begins anew, but does not send the account to a page again whose result let it go on.
    """
    interaction = interactions.current(moment.context)
    run = _stored(interaction.state) if interaction is not None and not interaction.is_done else None
    if run is None or run.uid != moment.account.uid or run.result is None:
        return None
    if run.answers.get(run.result.node) not in (CONTINUE, STEP_UP):
        return None
    try:
        workflow = moment.target.workflow(moment.context)
    except errors.WorkflowGone:
        return None
    if workflow is None or workflow.version != run.version or pass_keys.key_of(workflow, moment) != run.key:
        return None
    return replace(run, node=None, factors=None, passed_factors=())


def _stored(state: InteractionState) -> WorkflowRun | None:
    return WorkflowRun.from_stored(state.workflow_run) if state.workflow_run is not None else None
