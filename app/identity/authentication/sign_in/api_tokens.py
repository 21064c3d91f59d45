"""Issues the tokens of a program's sign-in."""

from __future__ import annotations

from typing import Any

from app.identity.authentication.workflows.workflow_run import WorkflowRun
from app.identity.credentials.tokens import tokens
from app.identity.credentials.tokens.tokens import IssuedTokens, TokenGrant
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import active_policies
from app.identity.platform.context import Context
from app.identity.platform.token_claims import TokenClaims


def issue(
    context: Context,
    account: Account,
    methods: tuple[str, ...],
    *,
    provider: str = "Email",
    unfinished: dict[str, Any] | None = None,
    run: WorkflowRun | None = None,
) -> IssuedTokens:
    """Return the tokens of a program's sign-in. `methods` are its `amr` (RFC 8176).

    Args:
        unfinished: the authentication of a sign-in that must accept the privacy policy first; the token can only do that.
        run: the workflow that the sign-in passed.
    """
    claims = TokenClaims(
        provider=provider,
        agent=context.agent,
        address=context.ip_address,
        amr=methods,
        auth_time=int(context.now.timestamp()),
        unfinished_sign_in=unfinished,
        workflow=run.key if run is not None else None,
        workflow_claims=(dict(run.claims) or None) if run is not None else None,
    )
    access, refresh = active_policies.shortest_lifetimes(context, account)
    grant = TokenGrant(uid=account.uid, claims=claims, access_seconds=access, refresh_seconds=refresh)
    return tokens.issue(context, grant)
