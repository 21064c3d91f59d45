"""The workflow in force for the tokens of a client, and the claims that it set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from app.contract.error_groups import WORKFLOW_REFUSALS
from app.contract.oauth.oauth_errors import InvalidGrant
from app.identity.authentication.sign_in.workflows import token_workflows
from app.identity.credentials.tokens import token_store
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims
from app.kit import randomness

STORED: Final = ("workflow", "workflow_claims")
"""The fields of `TokenClaims` about a workflow."""
_REFUSED: Final = "The workflow of the client does not let the account in."


def admitted(context: Context, client: Application, account: Account, claims: TokenClaims) -> TokenClaims:
    """Return the claims of another token’s subject with those of the client’s workflow. Raises InvalidGrant."""
    try:
        return token_workflows.admitted(context, account, claims, client)
    except WORKFLOW_REFUSALS:
        raise InvalidGrant(_REFUSED) from None


def before_refresh(context: Context, client: Application, refresh_token: str) -> TokenClaims | None:
    """Return the claims after the workflow that refreshes run; None where none does, and for an unknown token.

    The token is not spent yet, so that no transaction waits for a call. Raises InvalidGrant.
    """
    try:
        if not token_workflows.runs_on_refresh(context, client):
            return None
        row = token_store.refresh(context.work, randomness.digest(refresh_token))
        is_own = row is not None and row.client_id == client.client_id and row.uid is not None
        account = account_store.by_uid(context, row.uid) if row is not None and is_own else None
        if row is None or account is None:
            return None
        return token_workflows.refreshed(context, account, TokenClaims.from_stored(row.facts), client)
    except WORKFLOW_REFUSALS:
        raise InvalidGrant(_REFUSED) from None


def taken_over(judged: TokenClaims | None, claims: TokenClaims) -> TokenClaims:
    """Return the claims with what a workflow set for a refresh; unchanged where none judged it."""
    if judged is None:
        return claims
    return replace(claims, workflow=judged.workflow, workflow_claims=judged.workflow_claims)


def of_token(claims: TokenClaims) -> dict[str, Any]:
    """Return the claims of a token that its workflow set."""
    return dict(claims.workflow_claims or {})
