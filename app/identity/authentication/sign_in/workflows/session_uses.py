"""Lets a session pass the workflow in force before it signs in elsewhere without an application: a site, a JWT, a return address.

For applications `authorize/workflow_sessions.py` does so.
"""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors
from app.contract.organizations.settings import MethodLimit
from app.contract.step_reasons import LoginReason
from app.contract.steps import LoginStep, RequiredAction
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.sessions import session_workflows
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.sign_in.workflows import denials, gate, interaction_runs, node_actions, pass_keys
from app.identity.authentication.sign_in.workflows.gate import NeedsAction, NeedsFactor, Passed, SignInDenied
from app.identity.authentication.sign_in.workflows.session_moments import moment_of
from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.sign_in.workflows.sign_in_target import target_of
from app.identity.authentication.workflows import answered_profiles
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context


def has_workflow(context: Context) -> bool:
    """Return whether a session must pass a workflow without an application. Reads nothing of workflows."""
    target = target_of(context)
    return target.client is None and bool(target.named or context.tenant.settings.default_workflow)


def must_pass(context: Context, session: BrowserSession, account: Account) -> bool:
    """Return whether the session has not passed the workflow in force, because it signed in for an application. Runs nothing."""
    try:
        return _unpassed(context, session, account) is not None
    except errors.WorkflowGone:
        return True


def step(context: Context, session: BrowserSession, account: Account) -> RequiredAction | LoginStep | None:
    """Return the step that the workflow in force requires of the session; None once it has passed it."""
    try:
        unpassed = _unpassed(context, session, account)
    except errors.WorkflowGone:
        return LoginStep(reason=LoginReason.WORKFLOW, denial="")
    if unpassed is None:
        return None
    moment, key = unpassed
    interaction = interactions.current(context)
    verdict = gate.judge(moment, interaction_runs.of(interaction, session.session_id, key))
    if isinstance(verdict, Passed):
        if verdict.run is not None:
            session_workflows.record_run(context, session, replace(verdict.run, profile={}))
            answered_profiles.write(context, account, verdict.run.profile)
        return None
    if isinstance(verdict, NeedsAction | NeedsFactor):
        interaction_runs.keep(context, interaction, session.session_id, verdict.run)
    if isinstance(verdict, NeedsAction):
        return node_actions.step(context, account, verdict.action, session.authenticated_at)
    return _denied(context, verdict) if isinstance(verdict, SignInDenied) else LoginStep()


def _unpassed(context: Context, session: BrowserSession, account: Account) -> tuple[SignInMoment, str] | None:
    """Return the moment at which a workflow must judge the session, and the workflow's key; None where none is in force or the session
    passed it.

    Raises WorkflowGone.
    """
    if not has_workflow(context):
        return None
    target = target_of(context)
    moment, workflow = moment_of(context, account, session, target), target.workflow(context)
    if workflow is None:
        return None
    key = pass_keys.key_of(workflow, moment)
    return None if key in session_workflows.of(context, session).passed else (moment, key)


def _denied(context: Context, denied: SignInDenied) -> LoginStep:
    if isinstance(denied.error, errors.LoginNotAllowed):
        return LoginStep(reason=LoginReason.METHOD, method_limit=MethodLimit.model_validate(denied.error.data))
    return LoginStep(reason=LoginReason.WORKFLOW, denial=denials.text_of(context, denials.texts_of(denied.error)))
