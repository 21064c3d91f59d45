"""The workflow in force for tokens whose subject does not sign in now: new tokens for earlier ones, and refreshes."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.workflows import gate, pass_keys
from app.identity.authentication.sign_in.workflows.gate import Passed, SignInDenied
from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget, of_grant
from app.identity.authentication.workflows import answered_profiles
from app.identity.authentication.workflows.workflow_run import WorkflowRun
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims


def of_run(run: WorkflowRun | None, claims: TokenClaims) -> TokenClaims:
    """Return the claims with those of the workflow that a sign-in passed."""
    if run is None:
        return replace(claims, workflow=None, workflow_claims=None)
    return replace(claims, workflow=run.key, workflow_claims=dict(run.claims) or None)


def admitted(context: Context, account: Account, claims: TokenClaims, client: Application | None = None) -> TokenClaims:
    """Return the claims of an earlier token with those of the workflow in force, which its subject passed or passes now.

    Reads nothing where none is in force.

    Args:
        client: the application that gets the new token; None for one of none.

    Raises WorkflowDenied, WorkflowGone: the workflow denies it, or requires a person.
    """
    target = of_grant(context, client, claims.org_id)
    workflow = target.workflow(context)
    if workflow is None:
        return of_run(None, claims)
    moment = SignInMoment(context, account, Authentication(claims.amr or ()), target, is_earlier=True)
    return claims if claims.workflow == pass_keys.key_of(workflow, moment) else _judged(moment, claims)


def runs_on_refresh(context: Context, client: Application | None = None) -> bool:
    """Return whether the workflow in force judges refreshes. Raises WorkflowGone."""
    workflow = SignInTarget(client).workflow(context)
    return workflow is not None and workflow.runs_on_refresh


def refreshed(
    context: Context, account: Account, claims: TokenClaims, client: Application | None = None
) -> TokenClaims:
    """Return the claims of a refresh, see `runs_on_refresh`.

    Raises WorkflowDenied, WorkflowGone.
    """
    target, authentication = of_grant(context, client, claims.org_id), Authentication(claims.amr or ())
    moment = SignInMoment(context, account, authentication, target, is_refresh=True, is_earlier=True)
    return _judged(moment, claims)


def _judged(moment: SignInMoment, claims: TokenClaims) -> TokenClaims:
    verdict = gate.judge(moment)
    if isinstance(verdict, SignInDenied) and isinstance(verdict.error, errors.WorkflowDenied | errors.WorkflowGone):
        raise verdict.error
    if not isinstance(verdict, Passed):
        raise errors.WorkflowDenied
    if verdict.run is not None and verdict.run.profile:
        answered_profiles.write(moment.context, moment.account, verdict.run.profile)
    return of_run(verdict.run, claims)
