"""The id_token: who signed in, when and how (OpenID Connect Core section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.profile import profile_document
from app.identity.directory.tenants.keys.signing_algorithms import half_hash
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import TokenClaims
from app.identity.protocols.oauth.claims import (
    account_claims,
    mapped_claims,
    organization_claims,
    requested_values,
    role_claims,
    subjects,
)
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.tokens.grant_result import GrantResult

OPENID: Final = "openid"
_ONE_FACTOR, _TWO_FACTORS = "1", "2"  # values of acr
_MFA = "mfa"  # multiple factors (RFC 8176)


def signed(
    context: Context,
    client: Application,
    issuer: Issuer,
    grant: GrantResult,
    account: Account,
    hashed: Mapping[str, str | None],
    more_claims: Iterable[str] = (),
    *,
    roles: Mapping[str, Any] | None = None,
) -> str:
    """Return the id_token (OpenID Connect Core sections 2, 3.1.3.6 and 3.3.2.11).

    Args:
        hashed: what the response brings besides, by the claim of its hash: at_hash, c_hash.
        more_claims: claims beside those that the request named for the id_token.
    """
    algorithm = client.settings.id_token_signed_response_alg
    payload = _payload(context, client, issuer, grant, account, more_claims, roles)
    payload.update({name: half_hash(text, algorithm) for name, text in hashed.items() if text is not None})
    return context.services.signing_keys.sign(context.work, payload, algorithm=algorithm)


def exchanged(
    context: Context, client: Application, issuer: Issuer, grant: GrantResult, account: Account, until: datetime
) -> str:
    """Return the id_token that a client gets for another token: it ends no later, and names who acts (RFC 8693 section 4.1).

    It comes without an access token, so it has the claims of the scopes (OpenID Connect Core section 5.4).
    """
    payload = _payload(context, client, issuer, grant, account, account_claims.names(grant.scope), None)
    payload["exp"] = min(payload["exp"], int(until.timestamp()))
    if grant.claims.act is not None:
        payload["act"] = subjects.actors_of(context, client, grant.claims.act)
    algorithm = client.settings.id_token_signed_response_alg
    return context.services.signing_keys.sign(context.work, payload, algorithm=algorithm)


def _payload(
    context: Context,
    client: Application,
    issuer: Issuer,
    grant: GrantResult,
    account: Account,
    more_claims: Iterable[str],
    roles: Mapping[str, Any] | None,
) -> dict[str, Any]:
    requested = account_claims.registered(client, (*(grant.claims.id_token_claims or ()), *more_claims))
    if roles is None:
        roles = role_claims.of_tokens(context, client, issuer, account, grant.scope, requested).id_token
    payload = grant.claims.added
    payload.update(account_claims.of(profile_document.claimable_of(account), requested) if requested else {})
    mapping = client.settings.claims_mapping.id_token
    if mapping:
        payload.update(mapped_claims.of_token(account, mapping, account_claims.withheld(grant.scope, requested)))
    payload.update(roles)
    payload = requested_values.matching(payload, grant.claims.id_token_values)
    payload.update(organization_claims.of_token(grant.membership, client, grant.scope))
    now = context.now
    payload.update(
        iss=issuer.url,
        sub=subjects.of(context, client, account.uid),
        aud=_audience(client),
        azp=client.client_id,
        iat=int(now.timestamp()),
        exp=int((now + timedelta(seconds=client.settings.id_token_seconds)).timestamp()),
    )
    optional = {
        "nonce": grant.nonce,
        "sid": subjects.sid_of(context, client, grant.session_id) if grant.session_id else None,
    }
    payload.update({name: value for name, value in optional.items() if value is not None})
    payload.update(authentication_claims(grant.claims))
    return payload


def _audience(client: Application) -> str | list[str]:
    """Return the client, and the other audiences that it has: `azp` says for which client the token is (Core section 2)."""
    others = client.settings.id_token_audiences
    return list(dict.fromkeys((client.client_id, *others))) if others else client.client_id


def authentication_claims(stored: TokenClaims) -> dict[str, Any]:
    """Return the known claims on how and when the user authenticated (Core section 2, RFC 9068 section 2.2.1)."""
    known: dict[str, Any] = {"auth_time": stored.auth_time} if stored.auth_time is not None else {}
    if stored.amr is not None:
        acr = stored.acr or (_TWO_FACTORS if _MFA in stored.amr else _ONE_FACTOR)
        known |= {"amr": list(stored.amr), "acr": acr}
    return known
