"""The workflow in force for tokens of a subject that does not sign in now, and the claims that it set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from app.contract import errors
from app.contract.oauth.oauth_errors import InvalidGrant
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.workflows import gate, pass_keys
from app.identity.authentication.sign_in.workflows.gate import Passed
from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget
from app.identity.authentication.workflows import answered_profiles
from app.identity.authentication.workflows.workflow import RunnableWorkflow
from app.identity.authentication.workflows.workflow_run import WorkflowRun
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims

STORED: Final = ("workflow", "workflow_claims")
"""The fields of `TokenClaims` about a workflow."""
_REFUSED: Final = "The workflow of the client does not let the account in."


def of_run(run: WorkflowRun | None, claims: TokenClaims) -> TokenClaims:
    """Return the claims with those of the workflow that a sign-in passed."""
    if run is None:
        return replace(claims, workflow=None, workflow_claims=None)
    return replace(claims, workflow=run.key, workflow_claims=dict(run.claims) or None)


def admitted(context: Context, client: Application, account: Account, claims: TokenClaims) -> TokenClaims:
    """Return the claims of another token’s subject with those of the client’s workflow, which the subject passed or passes now.

    Raises InvalidGrant where the workflow denies it, or requires a person.
    """
    workflow = _in_force(context, client)
    if workflow is None:
        return of_run(None, claims)
    moment = _moment(context, client, account, claims)
    is_passed = claims.workflow == pass_keys.key_of(workflow, moment)
    return claims if is_passed else _judged(moment, claims)


def refreshed(context: Context, client: Application, account: Account, claims: TokenClaims) -> TokenClaims:
    """Return the claims of a refresh; see `runs_on_refresh`. Call it before anything is written.

    Raises InvalidGrant where the workflow denies it.
    """
    return _judged(_moment(context, client, account, claims, is_refresh=True), claims)


def taken_over(judged: TokenClaims | None, claims: TokenClaims) -> TokenClaims:
    """Return the claims with what a workflow set for a refresh; unchanged where none judged it."""
    if judged is None:
        return claims
    return replace(claims, workflow=judged.workflow, workflow_claims=judged.workflow_claims)


def runs_on_refresh(context: Context, client: Application) -> bool:
    """Return whether the workflow in force judges refreshes. Raises InvalidGrant where it is gone."""
    workflow = _in_force(context, client)
    return workflow is not None and workflow.runs_on_refresh


def of_token(claims: TokenClaims) -> dict[str, Any]:
    """Return the claims of a token that its workflow set."""
    return dict(claims.workflow_claims or {})


def _in_force(context: Context, client: Application) -> RunnableWorkflow | None:
    try:
        return SignInTarget(client).workflow(context)
    except errors.WorkflowGone:
        raise InvalidGrant(_REFUSED) from None


def _moment(
    context: Context, client: Application, account: Account, claims: TokenClaims, *, is_refresh: bool = False
) -> SignInMoment:
    target = SignInTarget(client, request={"org_id": claims.org_id, "org_uid": account.uid})
    authentication = Authentication(claims.amr or ())
    return SignInMoment(context, account, authentication, target, is_refresh=is_refresh, is_earlier=True)


def _judged(moment: SignInMoment, claims: TokenClaims) -> TokenClaims:
    verdict = gate.judge(moment)
    if not isinstance(verdict, Passed) or verdict.run is None:
        raise InvalidGrant(_REFUSED)
    if verdict.run.profile:
        answered_profiles.write(moment.context, moment.account, verdict.run.profile)
    return of_run(verdict.run, claims)
