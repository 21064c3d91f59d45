"""Grant jwt-bearer (RFC 7523 section 2.1): an assertion of an issuer that the application trusts becomes a token of its subject.

The subject is an existing account. The rules of a sign-in through a provider apply; this grant can ask for nothing more.
"""

from __future__ import annotations

from app.contract.application_file import JWT_BEARER
from app.contract.application_settings import AssertionIssuer
from app.contract.errors_oauth import InvalidGrant, InvalidRequest, InvalidScope, UnauthorizedClient
from app.contract.oauth_tokens import TokenRequest, TokenResponse
from app.identity.authentication.sign_in import completion, sessions
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.authentication.sign_in.sessions import FEDERATED
from app.identity.directory.accounts import account as account_facts
from app.identity.directory.accounts import linked_identities
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import assertions, issuing, resource_indicators
from app.identity.protocols.oauth.assertions import AssertionRefused
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.issuing import Grant

NAME = JWT_BEARER


def exchange(context: Context, client: Application, issuer: Issuer, req: TokenRequest) -> TokenResponse:
    """Spend the assertion and issue an access token alone: the next assertion takes a refresh token's place (RFC 7521 section 4.1).

    Raises InvalidGrant for a wrong assertion, or for an account that may not sign in by it (RFC 7523 section 3.1).
    """
    if client.settings.is_public:
        raise UnauthorizedClient("A public client may not use this grant.")
    if req.assertion is None:
        raise InvalidRequest.names("assertion")
    scope = tuple(name for name in dict.fromkeys((req.scope or "").split()) if name != issuing.OFFLINE)
    if not set(scope) <= client.scopes:
        raise InvalidScope
    resource = resource_indicators.resolve(context, client, None, req.resource)
    try:
        trusted, claims = assertions.verify(context, client, req.assertion)
    except AssertionRefused as refusal:
        context.audit.record("assertion.refused", client_id=client.client_id, reason=str(refusal))
        raise InvalidGrant(f"The assertion is not valid: {refusal}.") from None
    account = _account(context, trusted, str(claims["sub"]), claims.get("email"))
    if account is None or not completion.try_single_factor(
        context, account, Authentication((FEDERATED,), trusted.connection or "assertion")
    ):
        raise InvalidGrant("The subject of the assertion may not sign in by it.")
    account = issuing.active_account(context, account.uid)
    lifetime = issuing.access_lifetime(context, client)
    session = sessions.start_for_grant(
        context, account.uid, (FEDERATED,), client.client_id, lifetime, issuer=issuer.url
    )
    grant = Grant(
        NAME, scope, account.uid, session.session_id, session.expires_at,
        resource=resource, facts={"amr": [FEDERATED]}, is_access_only=True,
    )  # fmt: skip
    return issuing.token_response(context, client, issuer, grant, account)


def _account(context: Context, trusted: AssertionIssuer, subject: str, email: object) -> Account | None:
    """Return the account that the assertion names, in the way that the tenant registered; none is created."""
    if trusted.subject == "identity":
        return linked_identities.find_account(context, trusted.connection or "", subject)
    if trusted.subject == "email":
        found = accounts.by_email(context, email) if isinstance(email, str) else None
        return found if found is not None and account_facts.is_verified(found, str(email)) else None
    return accounts.by_uid(context, subject)
