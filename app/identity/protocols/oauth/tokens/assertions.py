"""Assertions of issuers that an application trusts (RFC 7523 section 3): the signature, the claims, and that each is used once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import Key

from app.contract.applications.settings import TrustedIssuer
from app.identity.authentication.federation.providers import id_tokens
from app.identity.authentication.federation.providers.id_tokens import is_time
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, TokenExists
from app.identity.platform.outbound.openid_metadata import PARSE_ERRORS, import_keys, with_id
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers
from app.kit.caching.bounded_cache import bounded_cache
from app.kit.text.input_filter import has_control_character

MAX_LIFETIME: Final = timedelta(hours=1)
"""Of an assertion, so that remembering the used ones is bounded (RFC 7523 section 3)."""
_SKEW: Final = id_tokens.SKEW_SECONDS
_MAX_LENGTH: Final = 10_000
_MAX_ID: Final = 255
_TYPES: Final = (None, "jwt")


class AssertionRefused(Exception):
    """The assertion is not valid for this client now. The text names the reason."""


def verify(context: Context, client: Application, text: str) -> tuple[TrustedIssuer, dict[str, Any]]:
    """Verify an assertion of one of the client's issuers and spend it; return the issuer and the claims. Raises AssertionRefused."""
    issuer = _issuer(client, text)
    try:
        _, claims = id_tokens.signed_claims(text, _keys(context, issuer), id_tokens.ALGORITHMS)
    except ProviderUnavailable:
        raise AssertionRefused("signature") from None
    _check(context, client, issuer, claims)
    _spend(context, issuer, claims)
    return issuer, claims


def _issuer(client: Application, text: str) -> TrustedIssuer:
    """Return the registered issuer that the unverified assertion names, if it is a plain JWT (RFC 8725 section 3.11)."""
    if len(text) > _MAX_LENGTH or text.count(".") != 2:
        raise AssertionRefused("form")
    try:
        found = jws.extract_compact(text.encode())
        header, claims = found.headers(), json.loads(found.payload)
    except (JoseError, *PARSE_ERRORS):
        raise AssertionRefused("form") from None
    kind = header.get("typ")
    if (kind.lower() if isinstance(kind, str) else kind) not in _TYPES or "crit" in header:
        raise AssertionRefused("header")
    named = claims.get("iss") if isinstance(claims, dict) else None
    for issuer in client.settings.assertion_issuers:
        if issuer.issuer == named:
            return issuer
    raise AssertionRefused("iss")


def _check(context: Context, client: Application, issuer: TrustedIssuer, claims: Mapping[str, Any]) -> None:
    now = context.now.timestamp()
    ends_at, starts = claims.get("exp"), [claims.get("nbf"), claims.get("iat")]
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    checks = {
        "sub": _is_id(claims.get("sub")),
        "jti": _is_id(claims.get("jti")),
        "aud": any(_is_ours(context, client, issuer, item) for item in audiences if isinstance(item, str)),
        "exp": is_time(ends_at) and now < ends_at + _SKEW and ends_at - now <= MAX_LIFETIME.total_seconds() + _SKEW,  # type: ignore[operator]  # a number
        "nbf": all(item is None or (is_time(item) and item - _SKEW <= now) for item in starts),
    }
    if wrong := [name for name, is_good in checks.items() if not is_good]:
        raise AssertionRefused(wrong[0])


def _is_id(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_ID and not has_control_character(value)


def _is_ours(context: Context, client: Application, issuer: TrustedIssuer, audience: str) -> bool:
    """Return whether an `aud` names this server: its issuer, its token endpoint, or an audience that the tenant registered."""
    endpoint = issuers.at(context, client).token_endpoint.partition("?")[0]
    return audience in (issuer.audience, endpoint) or issuers.is_issuer_of(context, audience, client)


def _spend(context: Context, issuer: TrustedIssuer, claims: Mapping[str, Any]) -> None:
    """Remember the assertion until it has expired; only one of several concurrent uses succeeds."""
    until = datetime.fromtimestamp(claims["exp"] + _SKEW, UTC)
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


def _keys(context: Context, issuer: TrustedIssuer) -> id_tokens.Keys:
    """Return the look-up of the issuer's keys, which raises ProviderUnavailable and releases the connection."""
    if issuer.jwks is not None:
        stated = json.dumps(issuer.jwks, sort_keys=True)
        return lambda kid: with_id(_imported(stated), kid)

    def fetched(kid: str | None) -> tuple[Key, ...]:
        context.work.release_connection()
        return context.services.provider_metadata.keys(str(issuer.jwks_uri), kid)

    return fetched


@bounded_cache(max_entries=1024, length=8_000)
def _imported(jwks: str) -> tuple[Key, ...]:
    return import_keys(json.loads(jwks).get("keys"))
