"""Goes on with the workflow of a session whose sign-in waits for an action."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors
from app.contract.registration.form import FormField
from app.contract.step_reasons import LoginReason
from app.contract.steps import LoginStep, RequiredAction
from app.contract.workflows.nodes import ProfileFormNode
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.sessions import session_workflows, sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.sign_in.workflows import denials, gate, interaction_runs, node_actions
from app.identity.authentication.sign_in.workflows.gate import NeedsAction, NeedsFactor, NeedsSignIn, SignInDenied
from app.identity.authentication.sign_in.workflows.node_actions import field_of
from app.identity.authentication.sign_in.workflows.session_moments import moment_of
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget
from app.identity.authentication.workflows import answered_profiles, workflow_choice
from app.identity.authentication.workflows.workflow_run import WorkflowRun
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context


def step(
    context: Context, session: BrowserSession, account: Account, target: SignInTarget
) -> RequiredAction | LoginStep | None:
    """Return the step of the action for which the workflow waits, or of the sign-in that it requires again; None once it is passed.

    A denial ends the session.
    """
    pending = session_workflows.of(context, session).pending
    if pending is None:
        return None
    interaction, run = interactions.current(context), _waiting_run(context, session) or pending
    verdict = gate.judge(moment_of(context, account, session, target), run)
    if isinstance(verdict, SignInDenied):
        return _end(context, session, verdict)
    if isinstance(verdict, NeedsFactor | NeedsSignIn):
        if run.result is not None:
            interaction_runs.keep(context, interaction, session.session_id, run)
        return LoginStep()  # which asks for the factor
    if isinstance(verdict, NeedsAction) and verdict.run.key != pending.key:  # the session waits for another application
        interaction_runs.keep(context, interaction, session.session_id, verdict.run)
    elif verdict.run is not None:
        session_workflows.record_run(context, session, replace(verdict.run, profile={}))
        answered_profiles.write(context, account, verdict.run.profile)
    if isinstance(verdict, NeedsAction):
        return node_actions.step(context, account, verdict.action, session.authenticated_at)
    return None


def asked_fields(context: Context, session: BrowserSession) -> tuple[FormField, ...]:
    """Return the fields for which the session's workflow, or that of its interaction, waits."""
    run = _waiting_run(context, session)
    if run is None or run.node is None:
        return ()
    try:
        node = workflow_choice.workflow_of_run(context, run).graph.nodes[run.node]
    except errors.WorkflowGone:
        return ()
    return tuple(map(field_of, node.data.fields)) if isinstance(node.data, ProfileFormNode) else ()


def _waiting_run(context: Context, session: BrowserSession) -> WorkflowRun | None:
    """Return the run for which the session waits, or what it reached in the interaction for another application."""
    pending = session_workflows.of(context, session).pending
    run = interaction_runs.of(interactions.current(context), session.session_id)
    return pending if run is None or (pending is not None and pending.key == run.key) else run


def _end(context: Context, session: BrowserSession, denied: SignInDenied) -> LoginStep:
    sessions.end(context, session.uid, session.session_id)
    texts = denials.texts_of(denied.error)
    if (interaction := interactions.current(context)) is not None and not interaction.is_done:
        interactions.save(context, interaction, replace(interaction.state, denial=texts))
    return LoginStep(reason=LoginReason.WORKFLOW, denial=denials.text_of(context, texts))
