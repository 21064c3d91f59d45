"""Sessions that a sign-in by an organization's connection began, and their end when its provider says so.

OpenID Connect Back-Channel Logout 1.0: the provider posts a signed `logout_token` that names one of its sessions or a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from app.contract.errors import TooManyRequests
from app.contract.oauth.oauth_errors import InvalidRequest, SlowDown
from app.identity.authentication.federation.providers import id_tokens
from app.identity.authentication.sign_in.sessions import session_store, sessions
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts import linked_identities
from app.identity.directory.organizations.connections import sign_in_connections
from app.identity.directory.organizations.connections.organization_connection_store import OrganizationConnectionRecord
from app.identity.platform import continuation_tokens, jwts
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.identity.platform.jwts import PUBLIC_KEY_ALGORITHMS, JwtNotAccepted, JwtProfile, is_time
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.limits.rate_limits import Rate

EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
_MAX_AGE: Final = timedelta(minutes=10)
_MAX_TEXT_LENGTH: Final = 500
_PROFILE: Final = JwtProfile(PUBLIC_KEY_ALGORITHMS, 20_000, types=(None, "jwt", "logout+jwt"))
_RATE: Final = Rate(600, 60)  # per connection and network: others must not use up what the provider needs


def end(context: Context, address_key: str, logout_token: str) -> None:
    """End the sessions that a logout token names; none for a session or a person that is unknown here.

    Raises:
        InvalidRequest: there is no such connection, or the token is not one of its provider's, not new or used before (section 2.8).
        SlowDown: 600 of the connection and the caller's network in a minute.
    """
    record = sign_in_connections.by_address(context, address_key)
    if record is None or record.is_saml:
        raise InvalidRequest("There is no such connection.")
    try:
        context.count_against("upstream_logout", _RATE, record.connection_id, context.network)
    except TooManyRequests as refusal:
        raise SlowDown(retry_after_seconds=refusal.retry_after_seconds) from None
    claims = _verified(context, record, logout_token)
    name, session, subject = record.connection_id, claims.get("sid"), claims.get("sub")
    if isinstance(session, str):
        begun = list(session_store.of_upstream(context, name, session))
    else:
        holder = linked_identities.find_account(context, name, str(subject))
        begun = list(session_store.of_connection(context, name, holder.uid)) if holder is not None else []
    for uid, session_id in ((row.uid, row.session_id) for row in begun):
        if sessions.end(context, uid, session_id) is not None:
            tokens.revoke_with_session(context, uid, session_id)
            context.audit.record("session.ended_upstream", uid=uid, org_id=record.org_id, connection_id=name)


def _verified(context: Context, record: OrganizationConnectionRecord, text: str) -> Mapping[str, Any]:
    """Return the claims of a logout token, which is used up (section 2.6). Raises InvalidRequest."""
    from app.identity.authentication.federation.providers import organization_openid  # noqa: PLC0415 - few tenants have any

    try:
        provider = organization_openid.provider_of(context, record)
        context.work.release_connection()
        issuer, keys = id_tokens.of_issuer(text, provider.id_token_keys()[1], provider.issuer)
        claims = dict(jwts.read_jwt(text, keys, _PROFILE).claims)
    except (JwtNotAccepted, ProviderUnavailable) as problem:
        raise InvalidRequest(f"The logout_token is not valid: {problem}.") from None
    checks = _checks(context, (issuer, provider.settings.key), claims)
    if wrong := [name for name, is_good in checks.items() if not is_good]:
        raise InvalidRequest(f"The logout_token is not valid: {', '.join(wrong)}.")
    once = f"{provider.name} {claims['jti']}"
    if not continuation_tokens.use_once(context, ContinuationPurpose.LOGOUT_TOKEN, once, 2 * _MAX_AGE):
        raise InvalidRequest("The logout_token was used before.")
    return claims


def _checks(context: Context, expected: tuple[str, str], claims: Mapping[str, Any]) -> dict[str, bool]:
    """Return for each claim whether it is as section 2.4 demands. A token without `exp` is good for ten minutes, as every other.

    Args:
        expected: the issuer and the client.
    """
    issuer, client_id = expected
    audience, issued_at, events = claims.get("aud"), claims.get("iat"), claims.get("events")
    audiences = audience if isinstance(audience, list) else [audience]
    is_new = is_time(issued_at) and context.now.timestamp() - float(issued_at or 0) < _MAX_AGE.total_seconds()
    return {
        **_PROFILE.times(claims, context.now),
        "iss": claims.get("iss") == issuer,
        "aud": client_id in audiences,
        "iat": is_new and _PROFILE.times(claims, context.now)["iat"],
        "jti": _is_text(claims.get("jti")),
        "events": isinstance(events, dict) and isinstance(events.get(EVENT), dict),
        "nonce": "nonce" not in claims,
        "sid": "sid" not in claims or _is_text(claims["sid"]),
        "sub": _is_text(claims.get("sub")) if "sub" in claims else "sid" in claims,
    }


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_TEXT_LENGTH
