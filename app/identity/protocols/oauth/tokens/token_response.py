"""Token responses (RFC 6749 section 5.1): access token, refresh token, id_token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from app.contract.oauth.errors import InvalidGrant
from app.contract.oauth.tokens import TokenResponse
from app.identity.credentials.tokens import service as tokens
from app.identity.credentials.tokens.service import TokenGrant
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.service import Account
from app.identity.directory.organizations import active_policies
from app.identity.directory.organizations.organization import Membership
from app.identity.directory.tenants.keys.signing_algorithms import half_hash
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.platform.token_claims import NO_CLAIMS, TokenClaims
from app.identity.protocols.oauth import resource_indicators
from app.identity.protocols.oauth.claims import account as account_claims
from app.identity.protocols.oauth.claims import mapping as mapped_claims
from app.identity.protocols.oauth.claims import organizations as organization_claims
from app.identity.protocols.oauth.claims import requested_values, subjects
from app.identity.protocols.oauth.claims import roles as role_claims
from app.identity.protocols.oauth.issuers import Issuer
from app.identity.protocols.oauth.sender_constraints.token_binding import Confirmation
from app.identity.protocols.oauth.tokens import machine_tokens
from app.kit import randomness

OPENID, OFFLINE = "openid", "offline_access"
_ONE_FACTOR, _TWO_FACTORS = "1", "2"  # values of acr
_MFA = "mfa"  # multiple factors (RFC 8176)


@dataclass(frozen=True, kw_only=True)
class GrantResult:
    """The result of a grant of any kind.

    `claims` are stored with the tokens, with those that `token_response` adds. `session_ends_at` is the absolute end of the
    session.
    """

    kind: str
    scope: tuple[str, ...]
    confirmation: Confirmation
    uid: str | None = None
    session_id: str | None = None
    session_ends_at: datetime | None = None
    family_id: str | None = None
    nonce: str | None = None
    resource: str | None = None
    claims: TokenClaims = NO_CLAIMS
    is_access_only: bool = False  # no refresh token and no id_token
    membership: Membership | None = None  # in the organization of the claim `org_id`
    retained_refresh: str | None = None  # the refresh token that stays


def outlives_session(client: Application, scope: Iterable[str]) -> bool:
    """Return whether tokens of this scope outlive their session (OpenID Connect Core section 11), as all do for some clients.

    `offline_access` counts only while the client still has it.
    """
    return client.settings.tokens_outlive_session or (OFFLINE in scope and OFFLINE in client.scopes)


def has_refresh_token(client: Application, scope: Iterable[str]) -> bool:
    """Return whether a grant of this scope comes with a refresh token (OpenID Connect Core section 11, decision 0147)."""
    settings = client.settings
    return "refresh_token" in settings.grant_types and (settings.refresh_tokens == "always" or OFFLINE in scope)


def refresh_lifetime(context: Context, client: Application, claims: TokenClaims = NO_CLAIMS) -> timedelta:
    """Return the lifetime of a refresh token of the client, in the family with these claims or in a new family."""
    seconds = client.settings.refresh_token_seconds or context.tenant.settings.refresh_token_minutes * 60
    return min(timedelta(seconds=seconds), tokens.absolute_end(context, claims) - context.now)


def access_lifetime(context: Context, client: Application) -> timedelta:
    """Return the lifetime of the client's access tokens; a session or a family may end them sooner."""
    return timedelta(seconds=client.settings.access_token_seconds or context.tenant.settings.access_token_minutes * 60)


def active_account(context: Context, uid: str) -> Account:
    """Return the account of a grant; raises InvalidGrant if it may no longer sign in."""
    account = accounts.by_uid(context, uid)
    if account is None or not account.is_active or account.is_deleted or account.login_disabled:
        raise InvalidGrant("The account may not sign in.")
    return account


def active_membership(context: Context, uid: str, org_id: str | None) -> Membership | None:
    """Return the membership in an organization, None without one; raises InvalidGrant if it ended."""
    membership = organization_claims.membership_of(context, uid, org_id)
    if membership is None and org_id is not None:
        raise InvalidGrant("The user is not a member of the organization.")
    return membership


def token_response(
    context: Context, client: Application, issuer: Issuer, grant: GrantResult, account: Account | None
) -> TokenResponse:
    """Issue the tokens of a grant. They end with their session, unless they outlive it."""
    scope, stored = _scope_and_claims(context, client, issuer, grant)
    granted = (stored.granted or "").split() or grant.scope
    grant = replace(grant, scope=scope, claims=stored)
    session_id, ends_at = grant.session_id, grant.session_ends_at
    if outlives_session(client, granted):
        stored = replace(stored, sid=session_id)
        session_id = ends_at = None
    lifetime, refresh_seconds = _lifetimes(context, client, account, stored, ends_at)
    roles = role_claims.of_tokens(context, client, issuer, account, scope, stored.id_token_claims or ())
    token_grant = TokenGrant(
        uid=grant.uid,
        claims=stored,
        client_id=client.client_id,
        session_id=session_id,
        session_ends_at=ends_at,
        scope=" ".join(scope),
        family_id=grant.family_id,
        access_seconds=lifetime,
        refresh_seconds=refresh_seconds,
        has_refresh_token=account is not None and not grant.is_access_only and has_refresh_token(client, granted),
        signed_access_token=_signed_access_token(context, client, grant, account, lifetime, roles.access_token),
        retained_refresh_token=grant.retained_refresh,
    )
    issued = tokens.issue(context, token_grant)
    signed_id_token = None
    if account is not None and _has_id_token(issuer, grant):
        hashed = {"at_hash": issued.access_token}
        signed_id_token = id_token(context, client, issuer, grant, account, hashed, roles=roles.id_token)
    context.audit.record("tokens.issued", uid=grant.uid, client_id=client.client_id, grant=grant.kind)
    return _response(grant.confirmation, issued, signed_id_token, lifetime, token_grant)


def _response(
    confirmation: Confirmation,
    issued: tokens.IssuedTokens,
    signed_id_token: str | None,
    lifetime: int,
    grant: TokenGrant,
) -> TokenResponse:
    details = grant.claims.authorization_details
    return TokenResponse(
        access_token=issued.access_token,
        token_type=confirmation.token_type,
        expires_in=lifetime,
        expire_in=str(lifetime),
        refresh_token=issued.refresh_token,
        id_token=signed_id_token,
        scope=grant.scope or None,
        authorization_details=list(details) if details is not None else None,
    )


def _has_id_token(issuer: Issuer, grant: GrantResult) -> bool:
    return not grant.is_access_only and OPENID in grant.scope and issuer.protocol == "oidc"


def _scope_and_claims(
    context: Context, client: Application, issuer: Issuer, grant: GrantResult
) -> tuple[tuple[str, ...], TokenClaims]:
    """Return the scope of the access token, and the claims to store with it."""
    scope, granted = (
        resource_indicators.narrow_scope(context, client, grant.scope, grant.resource),
        grant.claims.granted,
    )
    if scope != grant.scope and granted is None:
        granted = " ".join(grant.scope)
    return scope, replace(
        grant.claims,
        issuer=issuer.url,
        gty=grant.kind,
        aud=tuple(resource_indicators.audience(context, client, scope, grant.resource)),
        granted=granted,
        sid=None,
        cnf=grant.confirmation.cnf,
    )


def _lifetimes(
    context: Context,
    client: Application,
    account: Account | None,
    stored: TokenClaims,
    session_ends_at: datetime | None,
) -> tuple[int, int | None]:
    """Return the lifetimes of an access and a refresh token in seconds, shortened by the account's organizations."""
    own = client.settings
    access, refresh = active_policies.shortest_lifetimes(
        context, account, own.access_token_seconds, own.refresh_token_seconds
    )
    lifetime = _lifetime(context, client, stored, session_ends_at)
    return min(lifetime, access or lifetime), refresh


def _lifetime(context: Context, client: Application, stored: TokenClaims, session_ends_at: datetime | None) -> int:
    """Return the lifetime of an access token in seconds."""
    now = context.now
    ends_at = tokens.absolute_end(context, stored, since=now)
    remaining = (min(ends_at, session_ends_at) if session_ends_at else ends_at) - now
    return max(1, int(min(access_lifetime(context, client), remaining).total_seconds()))


def id_token(
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
    payload = _id_token_claims(context, client, issuer, grant, account, more_claims, roles)
    payload.update({name: half_hash(text, algorithm) for name, text in hashed.items() if text is not None})
    return context.services.signing_keys.sign(context.work, payload, algorithm=algorithm)


def exchanged_id_token(
    context: Context, client: Application, issuer: Issuer, grant: GrantResult, account: Account, until: datetime
) -> str:
    """Return the id_token that a client gets for another token: it ends no later, and names who acts (RFC 8693 section 4.1).

    It comes without an access token, so it has the claims of the scopes (OpenID Connect Core section 5.4).
    """
    payload = _id_token_claims(context, client, issuer, grant, account, account_claims.names(grant.scope), None)
    payload["exp"] = min(payload["exp"], int(until.timestamp()))
    if grant.claims.act is not None:
        payload["act"] = subjects.actors_of(context, client, grant.claims.act)
    algorithm = client.settings.id_token_signed_response_alg
    return context.services.signing_keys.sign(context.work, payload, algorithm=algorithm)


def _id_token_claims(
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
    payload: dict[str, Any] = account_claims.of(accounts.claimable_of(account), requested) if requested else {}
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
    payload.update(_authentication(grant.claims))
    return payload


def _audience(client: Application) -> str | list[str]:
    """Return the client, and the other audiences that it has: `azp` says for which client the token is (Core section 2)."""
    others = client.settings.id_token_audiences
    return list(dict.fromkeys((client.client_id, *others))) if others else client.client_id


def _authentication(stored: TokenClaims) -> dict[str, Any]:
    """Return the known claims on how and when the user authenticated (Core section 2, RFC 9068 section 2.2.1)."""
    known: dict[str, Any] = {"auth_time": stored.auth_time} if stored.auth_time is not None else {}
    if stored.amr is not None:
        acr = stored.acr or (_TWO_FACTORS if _MFA in stored.amr else _ONE_FACTOR)
        known |= {"amr": list(stored.amr), "acr": acr}
    return known


def _signed_access_token(
    context: Context,
    client: Application,
    grant: GrantResult,
    account: Account | None,
    lifetime: int,
    roles: Mapping[str, Any],
) -> str | None:
    """Return a JWT access token (RFC 9068 section 2) with the mapped claims (section 2.2.2) and those of roles (section 2.2.3.1).

    Its digest is stored like an opaque token's, so that it can be revoked. None for a client that gets opaque tokens.
    """
    if client.settings.access_token_format != "jwt":
        return None
    stored, now = grant.claims, int(context.now.timestamp())
    mapping, audience = client.settings.claims_mapping.access_token, stored.aud or ()
    payload: dict[str, Any] = {
        **(mapped_claims.of_token(account, mapping, account_claims.withheld(grant.scope)) if mapping else {}),
        **roles,
        "iss": stored.issuer,
        "sub": subjects.of(context, client, grant.uid) if grant.uid else client.client_id,
        "aud": audience[0] if len(audience) == 1 else list(audience),
        "client_id": client.client_id,
        "iat": now,
        "exp": now + lifetime,
        "jti": randomness.token(18),
        "scope": " ".join(grant.scope),
    }
    payload.update(organization_claims.of_token(grant.membership, client, grant.scope))
    payload.update(_authentication(stored))
    bound = {"cnf": stored.cnf, "authorization_details": stored.authorization_details}
    payload.update({name: value for name, value in bound.items() if value is not None})
    if grant.claims.act is not None:
        payload["act"] = subjects.actors_of(context, client, grant.claims.act)
    algorithm = client.settings.access_token_signing_alg
    return context.services.signing_keys.sign(context.work, payload, machine_tokens.KIND, algorithm)
