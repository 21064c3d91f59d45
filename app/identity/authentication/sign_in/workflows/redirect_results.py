"""Takes the signed result with which people come back from a page of the tenant, to which a workflow sent them.

A result that can't be verified is refused, and counts as nothing: people could otherwise choose that a call failed.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from joserfc.jwk import OctKey

from app.contract import errors
from app.contract.workflows.http_calls import REDIRECT, STATE, CalledWorkflow
from app.contract.workflows.nodes import HttpCallNode
from app.contract.workflows.result_pages import MAX_RESULT_LENGTH
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions import session_workflows
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.sign_in.workflows import interaction_runs
from app.identity.authentication.sign_in.workflows.redirect_addresses import state_of
from app.identity.authentication.workflows import call_signatures, http_calls, workflow_choice
from app.identity.authentication.workflows.http_calls import CallOutcome, CallStep
from app.identity.authentication.workflows.workflow_run import RedirectResult, WaitingRedirect, WorkflowRun
from app.identity.platform import jwts
from app.identity.platform.context import Context
from app.identity.platform.jwts import JwtNotAccepted, JwtProfile

PROFILE: Final = JwtProfile(("HS256",), MAX_RESULT_LENGTH, types=jwts.PLAIN_TYPES, max_lifetime=timedelta(minutes=10))
"""Of a result."""
_OF_JWT: Final = frozenset({STATE, "sub", "exp", "iat", "nbf", "jti", "iss", "aud"})
"""The claims of a result that are no members of an answer."""


class ResultRefused(Exception):
    """The result can't be verified; the text names what is wrong, never a value."""


@dataclass(frozen=True)
class WaitingRun:
    """A run that waits until the person comes back: the session's, or that of the session in the interaction."""

    run: WorkflowRun
    redirect: WaitingRedirect
    node_id: str
    is_of_session: bool


def accept(context: Context, interaction: Interaction, session: BrowserSession, state: str, result: str) -> None:
    """Store what a result decides. Of several results for one redirect, the first counts alone.

    Nothing happens where no run of the session waits any more.

    Raises WorkflowResultRefused: a run waits, and still does, because the result can't be verified.
    """
    waiting = list(_waiting(context, interaction, session))
    if not waiting:
        return
    found = next((item for item in waiting if _is_state(state, interaction, item)), waiting[0])
    try:
        step = _step_of(context, found)
    except errors.WorkflowGone:
        return  # as the next step says
    try:
        claims = _verified(context, step.node, result)
        _check_recipient(claims, state, interaction, found)
    except ResultRefused as refused:
        workflow, problem = found.run.workflow_id, str(refused)
        context.audit.record(
            "workflow.result_refused", uid=session.uid, workflow=workflow, node=found.node_id, problem=problem
        )
        raise errors.WorkflowResultRefused from None
    answer = {name: value for name, value in claims.items() if name not in _OF_JWT}
    outcome = http_calls.read_answer(context, step, json.dumps(answer).encode)
    if outcome.decision == REDIRECT:
        outcome = http_calls.failed("malformed", "Action: a result can't redirect")
    if _store(context, interaction, session, found, outcome):
        context.audit.record(
            "workflow.result",
            uid=session.uid,
            workflow=found.run.workflow_id,
            node=found.node_id,
            outcome=outcome.decision,
        )


def _waiting(context: Context, interaction: Interaction, session: BrowserSession) -> Iterator[WaitingRun]:
    runs = (session_workflows.of(context, session).pending, interaction_runs.of(interaction, session.session_id))
    for run, is_of_session in zip(runs, (True, False), strict=True):
        if run is not None and run.redirect is not None and run.node is not None:
            yield WaitingRun(run, run.redirect, run.node, is_of_session)


def _is_state(state: Any, interaction: Interaction, waiting: WaitingRun) -> bool:
    expected = state_of(interaction.interaction_id, waiting.redirect)
    return isinstance(state, str) and hmac.compare_digest(state.encode(errors="replace"), expected.encode())


def _step_of(context: Context, waiting: WaitingRun) -> CallStep:
    """Return the call that sent the person to the page. Raises WorkflowGone."""
    workflow = workflow_choice.workflow_of_run(context, waiting.run)
    node = workflow.graph.nodes[waiting.node_id].data
    if not isinstance(node, HttpCallNode):
        raise errors.WorkflowGone
    called = CalledWorkflow(id=workflow.workflow_id, name=workflow.name, version=workflow.version)
    return CallStep(called, waiting.node_id, node)


def _verified(context: Context, node: HttpCallNode, result: str) -> Mapping[str, Any]:
    """Return the claims of a result that the node's secret signed, and that holds now. Raises ResultRefused."""
    key = OctKey.import_key(call_signatures.key(context, node.secret_name))
    try:
        claims = jwts.read_jwt(result, lambda _: [key], PROFILE).claims
    except JwtNotAccepted as problem:
        raise ResultRefused(str(problem)) from None
    for name, is_right in PROFILE.times(claims, context.now).items():
        if not is_right:
            raise ResultRefused(name)
    return claims


def _check_recipient(claims: Mapping[str, Any], state: str, interaction: Interaction, waiting: WaitingRun) -> None:
    """Refuse a result for another redirect, or for another account. Raises ResultRefused."""
    if not _is_state(state, interaction, waiting) or not _is_state(claims.get(STATE), interaction, waiting):
        raise ResultRefused("state")
    if claims.get("sub") != waiting.run.uid:
        raise ResultRefused("sub")


def _store(
    context: Context, interaction: Interaction, session: BrowserSession, waiting: WaitingRun, outcome: CallOutcome
) -> bool:
    """Store the outcome in the run, under a lock; return False where another request did so before."""

    def answered(run: WorkflowRun | None) -> WorkflowRun | None:
        if run is None or run.redirect != waiting.redirect:
            return None
        changed, counted = http_calls.answered(run, waiting.node_id, outcome)
        problem = f"{counted.failure}: {counted.problem}" if counted.failure else ""
        return replace(changed, redirect=None, result=RedirectResult(waiting.node_id, counted.texts, problem))

    if waiting.is_of_session:
        return session_workflows.change_pending(context, session, answered)
    locked = interactions.lock(context, interaction)
    changed = answered(interaction_runs.of(locked, session.session_id))
    if changed is not None:
        interaction_runs.keep(context, locked, session.session_id, changed)
    return changed is not None
