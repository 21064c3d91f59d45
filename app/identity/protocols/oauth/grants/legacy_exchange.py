"""Grant exchange_token of the interface: an account's access token of the API's own sign-ins becomes
tokens of this client.

The client's tokens end with a session of their own, or with the browser session of the presented token.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from app.contract.applications.file import EXCHANGE_TOKEN
from app.contract.oauth.oauth_errors import InvalidGrant, InvalidRequest
from app.contract.oauth.oauth_token_operations import TokenRequest, TokenResponse
from app.identity.authentication.sign_in import required_actions
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.tokens import token_store, tokens
from app.identity.platform.context import Context, TokenHolder
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import refusal_log, resource_indicators
from app.identity.protocols.oauth.grants.grant import Grant
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints.token_binding import Confirmation
from app.identity.protocols.oauth.tokens import grant_accounts, lifetimes, token_response, workflow_claims
from app.identity.protocols.oauth.tokens.grant_result import GrantResult
from app.kit import randomness

NAME = EXCHANGE_TOKEN
_SPELLING = re.compile(r"https?://[A-Za-z0-9.:-]{1,253}/oauth/grant-type/exchange_token")
_MAX_LENGTH = 8_000
_RETAINED = ("auth_time", "amr", "org_id", "act", *workflow_claims.STORED)
"""What the client's tokens take over of the presented one, beside its absolute end."""


def exchange(
    context: Context, client: Application, issuer: Issuer, req: TokenRequest, confirmation: Confirmation
) -> TokenResponse:
    """Issue tokens of the client for the account of `token`, which stays valid."""
    if req.token is None:
        raise InvalidRequest.names("token")
    scope = tuple(dict.fromkeys((req.scope or "").split()))
    if unknown := set(scope) - client.scopes:
        raise refusal_log.scope_of_another(unknown)
    resource = resource_indicators.resolve(context, client, None, req.resource)
    holder = _holder(context, req.token)
    account = grant_accounts.active_account(context, holder.uid)
    if not required_actions.are_met(context, account):
        raise InvalidGrant("Something must be accepted first, which this grant cannot ask for.")
    has_refresh = lifetimes.has_refresh_token(client, scope)
    granted = client.granted(scope if has_refresh else tuple(name for name in scope if name != lifetimes.OFFLINE))
    context.requested_scopes = granted
    ends_at = int(tokens.absolute_end(context, holder.claims, holder.issued_at).timestamp())
    claims = replace(holder.claims.only(*_RETAINED), ends_at=ends_at, resource=resource)
    claims = workflow_claims.admitted(context, client, account, claims)
    session_id, session_ends_at = _session(context, client, issuer, holder, has_refresh=has_refresh)
    grant = GrantResult(
        kind=NAME, scope=granted, confirmation=confirmation, uid=account.uid, session_id=session_id,
        session_ends_at=session_ends_at, resource=resource, claims=claims,
        membership=grant_accounts.active_membership(context, account.uid, claims.org_id),
    )  # fmt: skip
    return token_response.token_response(context, client, issuer, grant, account)


def _holder(context: Context, text: str) -> TokenHolder:
    """Return the account of a token of the API's own sign-ins. Raises InvalidGrant."""
    holder = token_store.access(context.work, randomness.digest(text)) if len(text) <= _MAX_LENGTH else None
    is_valid = (
        holder is not None
        and holder.client_id is None
        and bool(holder.uid)
        and holder.expires_at > context.now
        and holder.claims.cnf is None
        and holder.claims.unfinished_sign_in is None
    )
    if holder is None or not is_valid:
        raise InvalidGrant("The token is not valid.")
    return holder


def _session(
    context: Context, client: Application, issuer: Issuer, holder: TokenHolder, *, has_refresh: bool
) -> tuple[str, Any]:
    """Return the session of the client's tokens and its end: the presented token's, or a new one."""
    if holder.session_id is not None:
        ends_at = sessions.lock_expiry(context, holder.session_id)
        if ends_at is None:
            raise InvalidGrant("The session was ended.")
        return holder.session_id, ends_at
    lifetime = (
        lifetimes.refresh_lifetime(context, client) if has_refresh else lifetimes.access_lifetime(context, client)
    )
    session = sessions.start_for_grant(
        context,
        holder.uid,
        holder.claims.amr or (),
        client.client_id,
        lifetime,
        issuer=issuer.url,
        authenticated_at=datetime.fromtimestamp(holder.claims.auth_time or 0, UTC),  # an impersonation token has none
    )
    return session.session_id, session.expires_at


GRANT = Grant(NAME, exchange, other_spelling=_SPELLING)
