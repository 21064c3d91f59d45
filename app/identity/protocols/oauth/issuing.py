"""Token responses (RFC 6749 section 5.1): access token, refresh token, id_token."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from app.contract.errors_oauth import InvalidGrant
from app.contract.oauth_tokens import TokenResponse
from app.identity.credentials.tokens import service as tokens
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.service import Account
from app.identity.directory.organizations import in_force
from app.identity.directory.organizations.organization import Membership
from app.identity.directory.tenants.signing_algorithms import half_hash
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import (
    authorization_details,
    claims,
    machine_tokens,
    mapped_claims,
    organization_claims,
    requested_values,
    resource_indicators,
    role_claims,
    sender_constraints,
    subjects,
)
from app.identity.protocols.oauth.issuers import Issuer
from app.kit import randomness

OPENID, OFFLINE = "openid", "offline_access"
_ONE_FACTOR, _TWO_FACTORS = "1", "2"  # values of acr
_MFA = "mfa"  # multiple factors (RFC 8176)
FACTS_OF_REQUEST = (
    "auth_time",
    "amr",
    "acr",
    "userinfo_claims",
    "id_token_claims",
    requested_values.USERINFO,
    requested_values.ID_TOKEN,
    "resource",
)
"""Facts that tokens take over from the authorization request."""


@dataclass(frozen=True)
class Grant:
    """The result of a grant of any kind.

    `facts` are stored with the tokens: FACTS_OF_REQUEST, issuer, gty, org_id, and `granted`, the whole
    scope of a family whose access token has a narrower one. `session_ends_at` is the absolute end of the session.
    """

    kind: str
    scope: tuple[str, ...]
    uid: str | None = None
    session_id: str | None = None
    session_ends_at: datetime | None = None
    family_id: str | None = None
    nonce: str | None = None
    resource: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    is_access_only: bool = False  # no refresh token and no id_token
    membership: Membership | None = None  # in the organization of the fact `org_id`
    retained_refresh: str | None = None  # the refresh token that stays


def outlives_session(client: Application, scope: Iterable[str]) -> bool:
    """Return whether tokens of this scope outlive their session (OpenID Connect Core section 11), as all do for some clients.

    `offline_access` counts only while the client still has it.
    """
    return client.settings.tokens_outlive_session or (OFFLINE in scope and OFFLINE in client.scopes)


def has_refresh_token(client: Application, scope: Iterable[str]) -> bool:
    """Return whether a grant of this scope comes with a refresh token (OpenID Connect Core section 11, decisions/0147)."""
    settings = client.settings
    return "refresh_token" in settings.grant_types and (settings.refresh_tokens == "always" or OFFLINE in scope)


def refresh_lifetime(
    context: Context, client: Application, facts: Mapping[str, Any] = MappingProxyType({})
) -> timedelta:
    """Return the lifetime of a refresh token of the client, in the family with these facts or in a new family."""
    seconds = client.settings.refresh_token_seconds or context.tenant.settings.refresh_token_minutes * 60
    return min(timedelta(seconds=seconds), tokens.absolute_end(context, facts) - context.now)


def access_lifetime(context: Context, client: Application) -> timedelta:
    """Return the lifetime of the client's access tokens; a session or a family may end them sooner."""
    return timedelta(seconds=client.settings.access_token_seconds or context.tenant.settings.access_token_minutes * 60)


def active_account(context: Context, uid: str) -> Account:
    """Return the account of a grant; raises InvalidGrant if it may no longer sign in."""
    account = accounts.by_uid(context, uid)
    if account is None or not account.is_active or account.is_deleted or account.login_disabled:
        raise InvalidGrant("The account may not sign in.")
    return account


def active_membership(context: Context, uid: str, facts: Mapping[str, Any]) -> Membership | None:
    """Return the membership that the facts name, None where they name no organization; raises InvalidGrant if it ended."""
    membership = organization_claims.membership_of(context, uid, facts)
    if membership is None and organization_claims.FACT in facts:
        raise InvalidGrant("The user is not a member of the organization.")
    return membership


def token_response(
    context: Context, client: Application, issuer: Issuer, grant: Grant, account: Account | None
) -> TokenResponse:
    """Issue the tokens of a grant. They end with their session, unless they outlive it."""
    scope, facts = _scope_and_facts(context, client, issuer, grant)
    granted = str(facts.get("granted") or "").split() or grant.scope
    grant = replace(grant, scope=scope)
    session_id, ends_at = grant.session_id, grant.session_ends_at
    if outlives_session(client, granted):
        facts |= {tokens.SID: session_id} if session_id is not None else {}
        session_id = ends_at = None
    lifetime, refresh_seconds = _lifetimes(context, client, account, facts, ends_at)
    roles = role_claims.of_tokens(context, client, issuer, account, grant.scope, facts.get("id_token_claims") or ())
    mapping = client.settings.claims_mapping.access_token
    mapped = mapped_claims.of_token(account, mapping, claims.withheld(scope)) if mapping else {}
    signed = None
    if client.settings.access_token_format == "jwt":
        stored = replace(grant, facts=facts)
        signed = _signed_access_token(context, client, stored, lifetime, {**mapped, **roles.access_token})
    issued = tokens.issue(
        context,
        uid=grant.uid,
        client_id=client.client_id,
        session_id=session_id,
        session_ends_at=ends_at,
        scope=" ".join(scope),
        facts=facts,
        access_seconds=lifetime,
        refresh_seconds=refresh_seconds,
        with_refresh=account is not None and not grant.is_access_only and has_refresh_token(client, granted),
        family_id=grant.family_id,
        access_token=signed,
        retained_refresh=grant.retained_refresh,
    )
    signed_id_token = None
    if account is not None and _has_id_token(issuer, grant):
        hashed = {"at_hash": issued.access_token}
        signed_id_token = id_token(context, client, issuer, grant, account, hashed, roles=roles.id_token)
    context.audit.record("tokens.issued", uid=grant.uid, client_id=client.client_id, grant=grant.kind)
    return _response(context, issued, signed_id_token, lifetime, scope, facts)


def _response(
    context: Context,
    issued: tokens.IssuedTokens,
    signed_id_token: str | None,
    lifetime: int,
    scope: tuple[str, ...],
    facts: Mapping[str, Any],
) -> TokenResponse:
    return TokenResponse(
        access_token=issued.access_token,
        token_type=sender_constraints.token_type(context),
        expires_in=lifetime,
        expire_in=str(lifetime),
        refresh_token=issued.refresh_token,
        id_token=signed_id_token,
        scope=" ".join(scope) or None,
        authorization_details=facts.get(authorization_details.FACT),
    )


def _has_id_token(issuer: Issuer, grant: Grant) -> bool:
    return not grant.is_access_only and OPENID in grant.scope and issuer.protocol == "oidc"


def _scope_and_facts(
    context: Context, client: Application, issuer: Issuer, grant: Grant
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the scope of the access token, and the facts to store with it."""
    scope = resource_indicators.narrow_scope(context, client, grant.scope, grant.resource)
    facts = {**grant.facts, "issuer": issuer.url, "gty": grant.kind}
    facts["aud"] = resource_indicators.audience(context, client, scope, grant.resource)
    if scope != grant.scope:
        facts.setdefault("granted", " ".join(grant.scope))
    facts.pop(tokens.SID, None)
    facts.pop(tokens.CNF, None)
    if context.confirmation:
        facts[tokens.CNF] = dict(context.confirmation)
    return scope, facts


def _lifetimes(
    context: Context,
    client: Application,
    account: Account | None,
    facts: dict[str, Any],
    session_ends_at: datetime | None,
) -> tuple[int, int | None]:
    """Return the lifetimes of an access and a refresh token in seconds, shortened by the account's organizations."""
    own = client.settings
    access, refresh = in_force.shortened(context, account, own.access_token_seconds, own.refresh_token_seconds)
    lifetime = _lifetime(context, client, facts, session_ends_at)
    return min(lifetime, access or lifetime), refresh


def _lifetime(context: Context, client: Application, facts: dict[str, Any], session_ends_at: datetime | None) -> int:
    """Return the lifetime of an access token in seconds."""
    now = context.now
    ends_at = tokens.absolute_end(context, facts, since=now)
    remaining = (min(ends_at, session_ends_at) if session_ends_at else ends_at) - now
    return max(1, int(min(access_lifetime(context, client), remaining).total_seconds()))


def id_token(
    context: Context,
    client: Application,
    issuer: Issuer,
    grant: Grant,
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
    context: Context, client: Application, issuer: Issuer, grant: Grant, account: Account, until: datetime
) -> str:
    """Return the id_token that a client gets for another token: it ends no later, and names who acts (RFC 8693 section 4.1).

    It comes without an access token, so it has the claims of the scopes (OpenID Connect Core section 5.4).
    """
    payload = _id_token_claims(context, client, issuer, grant, account, claims.names(grant.scope), None)
    payload["exp"] = min(payload["exp"], int(until.timestamp()))
    if "act" in grant.facts:
        payload["act"] = subjects.actors_of(context, client, grant.facts["act"])
    algorithm = client.settings.id_token_signed_response_alg
    return context.services.signing_keys.sign(context.work, payload, algorithm=algorithm)


def _id_token_claims(
    context: Context,
    client: Application,
    issuer: Issuer,
    grant: Grant,
    account: Account,
    more_claims: Iterable[str],
    roles: Mapping[str, Any] | None,
) -> dict[str, Any]:
    facts = grant.facts
    requested = claims.registered(client, (*(facts.get("id_token_claims") or ()), *more_claims))
    if roles is None:
        roles = role_claims.of_tokens(context, client, issuer, account, grant.scope, requested).id_token
    payload: dict[str, Any] = claims.of(accounts.claimable_of(account), requested) if requested else {}
    mapping = client.settings.claims_mapping.id_token
    if mapping:
        payload.update(mapped_claims.of_token(account, mapping, claims.withheld(grant.scope, requested)))
    payload.update(roles)
    payload = requested_values.matching(payload, facts.get(requested_values.ID_TOKEN))
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
    payload.update(_authentication(facts))
    return payload


def _audience(client: Application) -> str | list[str]:
    """Return the client, and the other audiences that it has: `azp` says for which client the token is (Core section 2)."""
    others = client.settings.id_token_audiences
    return list(dict.fromkeys((client.client_id, *others))) if others else client.client_id


def _authentication(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return how and when the user authenticated, as far as it is known (Core section 2, RFC 9068 section 2.2.1)."""
    known = {name: facts[name] for name in ("auth_time", "amr") if facts.get(name) is not None}
    if "amr" in known:
        known["acr"] = facts.get("acr") or (_TWO_FACTORS if _MFA in known["amr"] else _ONE_FACTOR)
    return known


def _signed_access_token(
    context: Context, client: Application, grant: Grant, lifetime: int, more: Mapping[str, Any]
) -> str:
    """Return a JWT access token (RFC 9068 section 2).

    `more`: the mapped claims (section 2.2.2), and those of roles (section 2.2.3.1).

    Its digest is stored like an opaque token's, so that it can be revoked.
    """
    now, audience = int(context.now.timestamp()), grant.facts["aud"]
    payload: dict[str, Any] = {
        **more,
        "iss": grant.facts["issuer"],
        "sub": subjects.of(context, client, grant.uid) if grant.uid else client.client_id,
        "aud": audience[0] if len(audience) == 1 else audience,
        "client_id": client.client_id,
        "iat": now,
        "exp": now + lifetime,
        "jti": randomness.token(18),
        "scope": " ".join(grant.scope),
    }
    payload.update(organization_claims.of_token(grant.membership, client, grant.scope))
    payload.update(_authentication(grant.facts))
    payload.update(
        {name: grant.facts[name] for name in (tokens.CNF, authorization_details.FACT) if name in grant.facts}
    )
    if "act" in grant.facts:
        payload["act"] = subjects.actors_of(context, client, grant.facts["act"])
    algorithm = client.settings.access_token_signing_alg
    return context.services.signing_keys.sign(context.work, payload, machine_tokens.KIND, algorithm)
