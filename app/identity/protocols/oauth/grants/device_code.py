"""Grant device_code (RFC 8628 section 3.4): a device without a browser polls until a person answered on another one.

Its tokens end with a session of their own, which the person sees and ends like others; the browser that allowed it keeps its own.
"""

from __future__ import annotations

from datetime import UTC, datetime

from app.contract.application_file import DEVICE_GRANT
from app.contract.errors_oauth import InvalidGrant, InvalidRequest
from app.contract.oauth_tokens import TokenRequest, TokenResponse
from app.identity.authentication.sign_in import sessions
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import (
    authorization_details,
    device_codes,
    issuing,
    organization_claims,
    resource_indicators,
)
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.issuing import Grant

NAME = DEVICE_GRANT


def exchange(context: Context, client: Application, issuer: Issuer, req: TokenRequest) -> TokenResponse:
    """Issue the tokens that a person allowed; the end of the browser session in which they did ends unused permissions."""
    if req.device_code is None:
        raise InvalidRequest.names("device_code")
    facts = device_codes.redeem(context, client, issuer, req.device_code)
    if sessions.lock_expiry(context, facts["session_id"]) is None:
        raise InvalidGrant("The session was ended.")
    account = issuing.active_account(context, facts["uid"])
    scope, methods = tuple(facts["scope"]), tuple(facts["amr"])
    has_refresh = issuing.has_refresh_token(client, scope)
    lifetime = issuing.refresh_lifetime(context, client) if has_refresh else issuing.access_lifetime(context, client)
    session = sessions.start_for_grant(
        context,
        account.uid,
        methods,
        client.client_id,
        lifetime,
        issuer=issuer.url,
        authenticated_at=datetime.fromtimestamp(facts["auth_time"], UTC),
    )
    resource = resource_indicators.resolve(context, client, facts.get("resource"), req.resource)
    stored = ("auth_time", "amr", organization_claims.FACT)
    stored_facts = {name: facts[name] for name in stored if name in facts} | (
        {"resource": resource} if resource else {}
    )
    stored_facts |= authorization_details.facts(context, client, facts.get("details") or (), req.authorization_details)
    grant = Grant(
        NAME,
        scope,
        account.uid,
        session.session_id,
        session.expires_at,
        resource=resource,
        facts=stored_facts,
        membership=issuing.active_membership(context, account.uid, facts),
    )
    return issuing.token_response(context, client, issuer, grant, account)
