"""Grant password (RFC 6749 section 4.3), for older clients that list it: RFC 9700 section 2.4 advises against it.

The same rules as on the page: one counter, the same locks, and unknown accounts answer as known ones do.
"""

from __future__ import annotations

from typing import Any

from app.contract.errors import TooManyRequests
from app.contract.errors_oauth import InvalidGrant, InvalidRequest, InvalidScope, SlowDown
from app.contract.oauth_tokens import TokenAnswer, TokenRequest
from app.identity.call import Call
from app.identity.oauth import issuing, resources
from app.identity.oauth.issuers import Issuer
from app.identity.oauth.issuing import Grant
from app.identity.sign_in import gates, identifiers, sessions
from app.identity.sign_in import service as sign_in
from app.identity.sign_in.locks import Proof
from app.identity.tenants.tenant import Application
from app.identity.verification.service import Wish
from app.kit.errors import ApiError

NAME = "password"


def exchange(call: Call, client: Application, issuer: Issuer, req: TokenRequest) -> TokenAnswer:
    """Verify the password, begin a session of the application, and issue tokens; the reason of a refusal is told in its description."""
    if req.username is None:
        raise InvalidRequest.names("username")
    if req.password is None:
        raise InvalidRequest.names("password")
    scope = tuple(dict.fromkeys((req.scope or "").split()))
    if not set(scope) <= client.scopes:
        raise InvalidScope
    resource = resources.wanted(call, client, None, req.resource)
    refreshes = "refresh_token" in client.settings.grant_types
    scope = scope if refreshes else tuple(name for name in scope if name != issuing.OFFLINE)
    identifier = identifiers.guessed(call.tenant.settings, req.username)
    try:
        passed = sign_in.verify(call, identifier, req.password, Proof(), hides_unknown=True, wish=Wish())
    except TooManyRequests as refusal:
        raise SlowDown(retry_after_seconds=refusal.retry_after_seconds) from None
    except ApiError as refusal:
        raise InvalidGrant(f"{refusal.message}.") from None
    if passed.wanted is not None:
        raise InvalidGrant("A second factor is needed, which this grant cannot ask for.")
    account = passed.account
    if not gates.are_clear(call, account):
        raise InvalidGrant("Something must be accepted first, which this grant cannot ask for.")
    facts: dict[str, Any] = {"auth_time": int(call.now.timestamp()), "amr": [sign_in.PASSWORD]}
    if resource is not None:
        facts["resource"] = resource
    lives_for = issuing.refresh_life(call, client) if refreshes else issuing.access_life(call, client)
    begun = sessions.begin_of_grant(call, account.uid, (sign_in.PASSWORD,), client.client_id, lives_for)
    granted = client.granted(scope)
    grant = Grant(NAME, granted, account.uid, begun.session_id, begun.expires_at, resource=resource, facts=facts)
    return issuing.answer(call, client, issuer, grant, account)
