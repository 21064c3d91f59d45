"""Grant jwt-bearer (RFC 7523 section 2.1): an assertion of an issuer that the application trusts becomes a token of its subject.

The rules of a sign-in through a provider apply; this grant can ask for nothing more.
"""

from __future__ import annotations

from app.contract.applications.file import JWT_BEARER
from app.contract.oauth.oauth_errors import InvalidGrant, InvalidRequest
from app.contract.oauth.oauth_token_operations import TokenRequest, TokenResponse
from app.identity.authentication.sign_in import completion
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.completion import Complete
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.sign_in.sessions.sessions import FEDERATED
from app.identity.authentication.sign_in.workflows.tokens import token_workflows
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims
from app.identity.protocols.oauth import refusal_log, resource_indicators
from app.identity.protocols.oauth.grants.grant import Grant
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints.token_binding import Confirmation
from app.identity.protocols.oauth.tokens import (
    assertion_accounts,
    grant_accounts,
    issuer_assertions,
    lifetimes,
    token_response,
    workflow_claims,
)
from app.identity.protocols.oauth.tokens.assertion_accounts import CONFLICTS, AccountRefused
from app.identity.protocols.oauth.tokens.grant_result import GrantResult
from app.identity.protocols.oauth.tokens.issuer_assertions import AssertionRefused

NAME = JWT_BEARER
_NOT_ALLOWED = "The subject of the assertion may not sign in by it."


def exchange(
    context: Context, client: Application, issuer: Issuer, req: TokenRequest, confirmation: Confirmation
) -> TokenResponse:
    """Spend the assertion and issue an access token alone: the next assertion takes a refresh token's place (RFC 7521 section 4.1).

    Raises InvalidGrant for a wrong assertion, or for an account that may not sign in by it (RFC 7523 section 3.1).
    """
    if req.assertion is None:
        raise InvalidRequest.names("assertion")
    scope = tuple(name for name in dict.fromkeys((req.scope or "").split()) if name != lifetimes.OFFLINE)
    if unknown := set(scope) - client.scopes:
        raise refusal_log.scope_of_another(unknown)
    resource = resource_indicators.resolve(context, client, None, req.resource)
    context.requested_scopes = scope
    complete = _subject(context, client, req.assertion)
    account = grant_accounts.active_account(context, complete.account.uid)
    claims = token_workflows.of_run(complete.authentication.workflow, TokenClaims(amr=(FEDERATED,)))
    claims = workflow_claims.with_hook(context, client, account, claims)
    lifetime = lifetimes.access_lifetime(context, client)
    session = sessions.start_for_grant(
        context, account.uid, (FEDERATED,), client.client_id, lifetime, issuer=issuer.url
    )
    grant = GrantResult(
        kind=NAME, scope=scope, confirmation=confirmation, uid=account.uid, session_id=session.session_id,
        session_ends_at=session.expires_at, resource=resource, claims=claims, is_access_only=True,
    )  # fmt: skip
    return token_response.token_response(context, client, issuer, grant, account)


def _subject(context: Context, client: Application, assertion: str) -> Complete:
    """Return the sign-in of the assertion's account.

    After a conflict with a concurrent request, such as the first assertion about the same person, it is tried once more.
    Entries about what a refusal rolls back are dropped from the audit log.

    Raises InvalidGrant.
    """
    position = context.audit.position()
    for _ in range(2):
        try:
            return _sign_in(context, client, assertion)
        except CONFLICTS:
            context.work.rollback()
            context.audit.drop_since(position)
        except (AssertionRefused, AccountRefused) as refusal:
            context.audit.drop_since(position)
            context.audit.record("assertion.refused", client_id=client.client_id, reason=str(refusal))
            is_about_assertion = isinstance(refusal, AssertionRefused)
            reason = f"The assertion is not valid: {refusal}." if is_about_assertion else _NOT_ALLOWED
            raise InvalidGrant(reason) from None
    raise InvalidGrant(_NOT_ALLOWED)


def _sign_in(context: Context, client: Application, assertion: str) -> Complete:
    """Spend the assertion, and record the sign-in. Raises AssertionRefused, AccountRefused and `CONFLICTS`."""
    trusted, claims = issuer_assertions.verify(context, client, assertion)
    named = assertion_accounts.find(context, client, trusted, claims)
    authentication = Authentication((FEDERATED,), trusted.connection or "assertion")
    complete = completion.without_asking(context, named.account, authentication)
    if complete is None:
        raise AccountRefused("sign-in")
    named.link(context)
    return complete


GRANT = Grant(NAME, exchange, is_confidential=True)
