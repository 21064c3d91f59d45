"""The workflow and the token hook in force for the tokens of a client, and the claims that they set."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from app.contract.error_groups import WORKFLOW_REFUSALS
from app.contract.oauth.oauth_errors import InvalidGrant
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget
from app.identity.authentication.sign_in.workflows.tokens import token_hooks, token_workflows
from app.identity.authentication.sign_in.workflows.tokens.token_hooks import TokenHookDenied
from app.identity.credentials.tokens import token_store
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims
from app.kit import randomness

STORED: Final = ("workflow", "workflow_claims", "hook_claims")
"""The fields of `TokenClaims` about a workflow and a token hook."""
_REFUSED: Final = "The workflow of the client does not let the account in."
_DENIED: Final = "The token hook of the client denies the tokens."


def admitted(context: Context, client: Application, account: Account, claims: TokenClaims) -> TokenClaims:
    """Return the claims of another token’s subject with those of the client’s workflow and token hook. Raises InvalidGrant."""
    try:
        admitted_claims = token_workflows.admitted(context, account, claims, client)
    except WORKFLOW_REFUSALS:
        raise InvalidGrant(_REFUSED) from None
    return with_hook(context, client, account, admitted_claims)


def with_hook(
    context: Context, client: Application, account: Account, claims: TokenClaims, *, is_refresh: bool = False
) -> TokenClaims:
    """Return the claims with those of the client’s token hook. Reads nothing where there is none. Raises InvalidGrant."""
    hook = token_hooks.hook_in_force(context, client)
    if hook is None:
        return replace(claims, hook_claims=None)
    authentication = Authentication(claims.amr or ())
    moment = SignInMoment(
        context, account, authentication, SignInTarget(client), is_refresh=is_refresh, is_earlier=True
    )
    try:
        return replace(claims, hook_claims=token_hooks.ask(hook, moment) or None)
    except TokenHookDenied:
        raise InvalidGrant(_DENIED) from None


def before_refresh(
    context: Context, client: Application, refresh_token: str, requested: str | None = None
) -> TokenClaims | None:
    """Return the claims after the workflow that refreshes run, and the token hook; None without both, and for an unknown token.

    The token is not spent yet, so that no transaction waits for a call. Raises InvalidGrant.

    Args:
        requested: a narrower scope; None for what was granted.
    """
    try:
        is_judged = token_workflows.runs_on_refresh(context, client)
        if not is_judged and token_hooks.hook_in_force(context, client) is None:
            return None
        row = token_store.refresh(context.work, randomness.digest(refresh_token))
        is_own = row is not None and row.client_id == client.client_id and row.uid is not None
        account = account_store.by_uid(context, row.uid) if row is not None and is_own else None
        if row is None or account is None:
            return None
        claims = TokenClaims.from_stored(row.facts)
        context.requested_scopes = tuple((requested or claims.granted or row.scope or "").split())
        if is_judged:
            claims = token_workflows.refreshed(context, account, claims, client)
    except WORKFLOW_REFUSALS:
        raise InvalidGrant(_REFUSED) from None
    return with_hook(context, client, account, claims, is_refresh=True)


def taken_over(judged: TokenClaims | None, claims: TokenClaims) -> TokenClaims:
    """Return the claims with what a workflow and a token hook set for a refresh; those of a hook that is gone are no more."""
    if judged is None:
        return replace(claims, hook_claims=None)
    return replace(
        claims, workflow=judged.workflow, workflow_claims=judged.workflow_claims, hook_claims=judged.hook_claims
    )
