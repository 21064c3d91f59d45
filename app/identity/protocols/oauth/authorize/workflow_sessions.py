"""Lets a session pass the workflow of an application, once, before the application gets a response about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.contract import errors
from app.contract.organizations.settings import MethodLimit
from app.contract.step_reasons import LoginReason
from app.contract.steps import LoginStep, ReauthenticationStep, RegisterStep, RequiredAction
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.pending_sign_in import channel_for
from app.identity.authentication.sign_in.sessions import session_workflows
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.sign_in.workflows import (
    first_page,
    gate,
    interaction_runs,
    node_actions,
    pass_keys,
    sign_in_target,
)
from app.identity.authentication.sign_in.workflows.gate import NeedsFactor, NeedsSignIn, Passed, SignInDenied
from app.identity.authentication.sign_in.workflows.session_moments import moment_of
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget
from app.identity.authentication.sign_in.workflows.tokens import token_hooks
from app.identity.authentication.sign_in.workflows.tokens.token_hooks import TokenHookDenied
from app.identity.authentication.workflows import answered_profiles
from app.identity.credentials.second_factors import second_factors
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.authorize.openid_parameters import prompt
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect

_DENIED = RefusedByRedirect("access_denied", "The workflow of the client denies the sign-in.")


def step(
    context: Context,
    client: Application,
    request: CheckedRequest,
    session: BrowserSession,
    account: Account | None,
    interaction: Interaction | None,
) -> RequiredAction | LoginStep | ReauthenticationStep | None:
    """Return the step that the workflow in force requires of a session; None if it passed it, or if none is in force.

    Raises RefusedByRedirect for a denial.
    """
    key = _key(context, client, request, session, account)
    if key is None or account is None or key in session_workflows.of(context, session).passed:
        return None
    target = target_of(client, request)
    verdict = gate.judge(
        moment_of(context, account, session, target), interaction_runs.of(interaction, session.session_id, key)
    )
    if isinstance(verdict, SignInDenied):
        return _denied(verdict)
    if isinstance(verdict, Passed):
        if verdict.run is not None:
            session_workflows.record_run(context, session, replace(verdict.run, profile={}))
            answered_profiles.write(context, account, verdict.run.profile)
        return None
    if isinstance(verdict, NeedsSignIn):
        return LoginStep()
    interaction_runs.keep(context, interaction, session.session_id, verdict.run)
    if not isinstance(verdict, NeedsFactor):
        return node_actions.step(context, account, verdict.action, session.authenticated_at)
    kinds = second_factors.kinds_of_account(context, account, channel_for(session.methods))
    return ReauthenticationStep() if kinds and not verdict.run.factors else LoginStep()


def first_form(
    context: Context,
    client: Application,
    request: CheckedRequest,
    interaction: Interaction | None,
    session: BrowserSession | None,
) -> LoginStep | RegisterStep:
    """Return the page that asks for a sign-in: the one that was requested, or the workflow's for somebody who begins."""
    if prompt.CREATE in request.prompt:
        return RegisterStep()
    is_denied = interaction is not None and interaction.state.denial is not None
    return (
        LoginStep() if session is not None or is_denied else first_page.first_step(context, target_of(client, request))
    )


def target_of(client: Application | None, request: CheckedRequest) -> SignInTarget:
    return sign_in_target.of_request(client, request.workflow, request.to_store())


def is_passed(
    context: Context, client: Application, request: CheckedRequest, session: BrowserSession, account: Account | None
) -> bool:
    """Return whether the session passed the workflow in force, if there is one."""
    try:
        key = _key(context, client, request, session, account)
    except RefusedByRedirect:
        return False
    return key is None or key in session_workflows.of(context, session).passed


def stored_claims(
    context: Context,
    client: Application,
    request: CheckedRequest,
    session: BrowserSession | None,
    account: Account | None,
) -> dict[str, Any]:
    """Return what tokens store of the workflow that the session passed for the application, and of the token hook; nothing without both.

    Raises RefusedByRedirect.
    """
    if session is None:
        return {}
    key = _key(context, client, request, session, account)
    claims = dict(session_workflows.of(context, session).claims_of(key)) if key is not None else {}
    added = _of_hook(context, client, request, session, account)
    stored = {"workflow": key, "workflow_claims": claims or None, "hook_claims": added or None}
    return {name: value for name, value in stored.items() if value is not None}


def _of_hook(
    context: Context, client: Application, request: CheckedRequest, session: BrowserSession, account: Account | None
) -> dict[str, Any]:
    """Return the claims of the token hook. Raises RefusedByRedirect."""
    hook = token_hooks.hook_in_force(context, client)
    if hook is None or account is None:
        return {}
    try:
        return token_hooks.ask(hook, moment_of(context, account, session, target_of(client, request)))
    except TokenHookDenied:
        raise RefusedByRedirect("access_denied", "The token hook of the client denies the tokens.") from None


def _key(
    context: Context, client: Application, request: CheckedRequest, session: BrowserSession, account: Account | None
) -> str | None:
    """Return under which key a session passes the workflow in force; None without one.

    Raises RefusedByRedirect where the workflow is gone.
    """
    target = target_of(client, request)
    try:
        workflow = target.workflow(context)
    except errors.WorkflowGone:
        raise _DENIED from None
    if workflow is None or account is None:
        return None
    return pass_keys.key_of(workflow, moment_of(context, account, session, target))


def _denied(denied: SignInDenied) -> LoginStep:
    """Return the step that asks for a method that the workflow takes. Raises RefusedByRedirect for every other denial."""
    if not isinstance(denied.error, errors.LoginNotAllowed):
        raise _DENIED
    return LoginStep(reason=LoginReason.METHOD, method_limit=MethodLimit.model_validate(denied.error.data))
