"""Assertions of issuers that an application trusts (RFC 7523 section 3): the signature, the claims, and that each is used once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from app.contract.applications.settings import TrustedIssuer
from app.identity.platform import continuation_tokens, jwts
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, TokenExists
from app.identity.platform.jwts import PLAIN_TYPES, PUBLIC_KEY_ALGORITHMS, SKEW_SECONDS, JwtNotAccepted, JwtProfile
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.sender_constraints import client_keys
from app.kit.text.input_filter import has_control_character

MAX_LIFETIME: Final = timedelta(hours=1)
"""Of an assertion, so that remembering the used ones is bounded (RFC 7523 section 3)."""
_MAX_ID: Final = 255
PROFILE: Final = JwtProfile(PUBLIC_KEY_ALGORITHMS, 10_000, PLAIN_TYPES, MAX_LIFETIME)


class AssertionRefused(Exception):
    """The assertion is not valid for this client now. The text names the reason."""


def verify(context: Context, client: Application, text: str) -> tuple[TrustedIssuer, dict[str, Any]]:
    """Verify an assertion of one of the client's issuers and spend it; return the issuer and the claims. Raises AssertionRefused."""
    issuer = _issuer(client, text)
    keys = client_keys.registered(context, issuer.jwks, issuer.jwks_uri)
    try:
        claims = dict(jwts.read_jwt(text, keys, PROFILE).claims)
    except (JwtNotAccepted, ProviderUnavailable):
        raise AssertionRefused("signature") from None
    _check(context, client, issuer, claims)
    _spend(context, issuer, claims)
    return issuer, claims


def _issuer(client: Application, text: str) -> TrustedIssuer:
    """Return the registered issuer that the unverified assertion names, if it is a plain JWT (RFC 8725 section 3.11)."""
    try:
        header, claims = jwts.unverified_header(text, PROFILE), jwts.unverified_claims(text, PROFILE)
    except JwtNotAccepted:
        raise AssertionRefused("form") from None
    if not PROFILE.accepts_type(header):
        raise AssertionRefused("header")
    named = claims.get("iss")
    for issuer in client.settings.assertion_issuers:
        if issuer.issuer == named:
            return issuer
    raise AssertionRefused("iss")


def _check(context: Context, client: Application, issuer: TrustedIssuer, claims: Mapping[str, Any]) -> None:
    times = PROFILE.times(claims, context.now)
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    checks = {
        "sub": _is_id(claims.get("sub")),
        "jti": _is_id(claims.get("jti")),
        "aud": any(_is_ours(context, client, issuer, item) for item in audiences if isinstance(item, str)),
        "exp": times["exp"],
        "nbf": times["nbf"],
        "iat": times["iat"],
    }
    if wrong := [name for name, is_good in checks.items() if not is_good]:
        raise AssertionRefused(wrong[0])


def _is_id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_ID and not has_control_character(value)


def _is_ours(context: Context, client: Application, issuer: TrustedIssuer, audience: str) -> bool:
    """Return whether an `aud` names this server: its issuer, its token endpoint, or an audience that the tenant registered."""
    endpoint = issuers.requested_issuer(context, client).token_endpoint.partition("?")[0]
    return audience in (issuer.audience, endpoint) or issuers.is_issuer_of(context, audience, client)


def _spend(context: Context, issuer: TrustedIssuer, claims: Mapping[str, Any]) -> None:
    """Remember the assertion until it has expired; only one of several concurrent uses succeeds."""
    until = datetime.fromtimestamp(claims["exp"] + SKEW_SECONDS, UTC)
    try:
        continuation_tokens.issue(
            context,
            ContinuationPurpose.USED_ASSERTION,
            NO_ACCOUNT,
            lifetime=until - context.now,
            text=json.dumps([issuer.issuer, claims["jti"]]),
        )
    except TokenExists:
        raise AssertionRefused("jti") from None
