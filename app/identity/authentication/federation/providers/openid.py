"""OpenID Connect providers: discovery (Discovery section 4) and the checks of an id_token (Core section 3.1.3.7)."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar, Final

from joserfc import jws, jwt
from joserfc.errors import JoseError

from app.contract.connections import ConnectionSettings
from app.identity.authentication.federation.providers.oauth2 import (
    authorization_url,
    exchange_code,
    read_access_token,
    read_code,
    read_tokens,
    renew_tokens,
)
from app.identity.directory.identity_provider import (
    AuthenticationRequest,
    ProfileUnsupported,
    ProviderIdentity,
    ProviderTokens,
    identity_from_claims,
)
from app.identity.platform import outbound
from app.identity.platform.openid_metadata import PARSE_ERRORS, Endpoints, ProviderMetadata, ProviderMetadataCache
from app.identity.platform.outbound import ProviderUnavailable

GOOGLE = "https://accounts.google.com"
_GOOGLE_DOMAINS: Final = ("gmail.com", "googlemail.com")
SCOPE: Final = "openid profile email"
_SKEW_SECONDS: Final = 60
_DIGESTS: Final[Mapping[str, Any]] = {"256": hashlib.sha256, "384": hashlib.sha384, "512": hashlib.sha512}
_ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)


@dataclass(frozen=True)
class OpenIdProvider:
    """A tenant's client at an OpenID Connect provider."""

    has_id_token: ClassVar[bool] = True
    name: str
    settings: ConnectionSettings
    secret: str = field(repr=False)
    metadata_cache: ProviderMetadataCache

    @property
    def issuer(self) -> str:
        return self.settings.issuer or ""

    def authorization_url(
        self, request: AuthenticationRequest, *, hint: str, is_reauthentication: bool, language: str
    ) -> str:
        reauthentication = (
            {"prompt": "login", "max_age": "0"}
            if is_reauthentication and supports_reauthentication(self.issuer)
            else {}
        )
        # only Google issues refresh tokens by this parameter
        offline = {"access_type": "offline"} if self.settings.keep_provider_tokens and self.issuer == GOOGLE else {}
        optional = {"login_hint": hint, "ui_locales": language, **reauthentication, **offline}
        present = {name: value for name, value in optional.items() if value}
        scope = self.settings.scope or SCOPE
        endpoints = self._endpoints(self.metadata_cache.metadata(self.issuer))
        return authorization_url(self.settings, endpoints, request, scope=scope, nonce=request.nonce, **present)

    def fetch_identity(
        self, request: AuthenticationRequest, parameters: Mapping[str, str], now: datetime
    ) -> tuple[ProviderIdentity, ProviderTokens | None]:
        metadata = self.metadata_cache.metadata(self.issuer)
        self._check_issuer(parameters, metadata)
        token = exchange_code(
            self.metadata_cache.resolver,
            self.settings,
            self.secret,
            self._endpoints(metadata),
            request,
            read_code(parameters),
        )
        claims = self._verify_id_token(
            str(token.get("id_token") or ""), token.get("access_token"), metadata, request, now
        )
        names = self.settings.names
        if metadata.userinfo and not claims.get(names["email"]):
            claims = self._with_userinfo(claims, metadata.userinfo, read_access_token(token))
        identity = identity_from_claims(self.name, names, claims)
        gives_email = _owns_mailbox_domain(self.issuer, identity.email or "", claims)
        is_anew = _is_reauthenticated(claims, request.requested_at)
        return replace(identity, gives_email=gives_email, is_anew=is_anew), read_tokens(token, now)

    def read_identity(self, access_token: str) -> ProviderIdentity:
        """Return the identity at the userinfo endpoint (Core section 5.3)."""
        metadata = self.metadata_cache.metadata(self.issuer)
        if not metadata.userinfo:
            raise ProfileUnsupported
        claims = outbound.get_json_object(self.metadata_cache.resolver, metadata.userinfo, access_token)
        identity = identity_from_claims(self.name, self.settings.names, claims)
        return replace(identity, gives_email=_owns_mailbox_domain(self.issuer, identity.email or "", claims))

    def renew_tokens(self, tokens: ProviderTokens, now: datetime) -> ProviderTokens:
        endpoints = self._endpoints(self.metadata_cache.metadata(self.issuer))
        return renew_tokens(self.metadata_cache.resolver, self.settings, self.secret, endpoints, tokens, now)

    def _endpoints(self, metadata: ProviderMetadata) -> Endpoints:
        method = self.settings.token_endpoint_auth_method
        return Endpoints(
            metadata.endpoints.authorization, metadata.endpoints.token, method or metadata.endpoints.auth_method
        )

    def _check_issuer(self, parameters: Mapping[str, str], metadata: ProviderMetadata) -> None:
        """Reject a response of another issuer (RFC 9207 section 2.4)."""
        if "iss" in parameters and parameters["iss"] != self.issuer:
            raise ProviderUnavailable("the answer is another issuer's")
        if metadata.sends_issuer and parameters.keys().isdisjoint({"iss", "error"}):
            raise ProviderUnavailable("the answer does not say whose it is")

    def _verify_id_token(
        self, text: str, access_token: Any, metadata: ProviderMetadata, request: AuthenticationRequest, now: datetime
    ) -> dict[str, Any]:
        """Verify an id_token (section 3.1.3.7) and return its claims."""
        algorithm, claims = self._verify_signature(text, metadata.jwks)
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        authorized_party = claims.get("azp")
        checks = {
            "iss": claims.get("iss") == self.issuer,
            "aud": self.settings.key in audiences,
            "azp": authorized_party == self.settings.key or ("azp" not in claims and len(audiences) == 1),
            "nonce": claims.get("nonce") == request.nonce,
            "sub": isinstance(claims.get("sub"), str),
            "exp": _is_fresh(claims, now),
            "at_hash": "at_hash" not in claims or claims["at_hash"] == _at_hash(algorithm, access_token),
        }
        if wrong := [name for name, is_good in checks.items() if not is_good]:
            raise ProviderUnavailable(f"the id_token is not good: {', '.join(wrong)}")
        return claims

    def _verify_signature(self, text: str, address: str) -> tuple[str, dict[str, Any]]:
        """Verify the signature with the provider's keys and return the algorithm and the claims."""
        registry = jws.JWSRegistry(algorithms=_ALGORITHMS, strict_check_header=False)
        registry.max_header_length = 8_000
        try:
            header = jws.extract_compact(text.encode(), registry=registry).headers()
        except (JoseError, *PARSE_ERRORS):
            raise ProviderUnavailable("there is no id_token that can be read") from None
        kid, algorithm = header.get("kid"), header.get("alg")
        if algorithm not in _ALGORITHMS:
            raise ProviderUnavailable("the id_token is not signed with a key of the provider's own")
        for key in self.metadata_cache.keys(address, kid if isinstance(kid, str) else None):
            try:
                return str(algorithm), dict(jwt.decode(text, key, registry=registry).claims)
            except (JoseError, *PARSE_ERRORS):
                continue
        raise ProviderUnavailable("the id_token is not signed by the provider")

    def _with_userinfo(self, claims: dict[str, Any], address: str, access_token: str) -> dict[str, Any]:
        userinfo = outbound.get_json_object(self.metadata_cache.resolver, address, access_token)
        if userinfo.get("sub") != claims["sub"]:  # OpenID Connect Core section 5.3.2
            raise ProviderUnavailable("userinfo is about another subject")
        return {**userinfo, **claims}


def supports_reauthentication(issuer: str | None) -> bool:
    """Return whether the provider supports reauthentication; Google rejects the parameter."""
    return issuer not in (None, GOOGLE)


def _owns_mailbox_domain(issuer: str, email: str, claims: Mapping[str, Any]) -> bool:
    """Return whether the provider operates the mailbox; Google verifies addresses of other domains only once.

    See developers.google.com/identity/sign-in/web/backend-auth.
    """
    domain = email.rpartition("@")[2].lower()
    return issuer != GOOGLE or domain in _GOOGLE_DOMAINS or claims.get("hd") == domain


def _is_fresh(claims: Mapping[str, Any], now: datetime) -> bool:
    starts = [claims.get("iat"), claims.get("nbf", claims.get("iat"))]
    expires_at, at = claims.get("exp"), now.timestamp()
    if not all(map(_is_time, [*starts, expires_at])):
        return False
    return all(start - _SKEW_SECONDS <= at for start in starts) and at < expires_at + _SKEW_SECONDS  # type: ignore[operator]  # numbers


def _is_reauthenticated(claims: Mapping[str, Any], requested_at: datetime | None) -> bool:
    """Return whether a new authentication was requested and happened.

    Some providers omit `auth_time` although `max_age` requires it (section 3.1.2.1), and some do not reauthenticate.
    """
    authenticated_at: Any = claims.get("auth_time")
    return (
        requested_at is not None
        and _is_time(authenticated_at)
        and bool(authenticated_at >= requested_at.timestamp() - _SKEW_SECONDS)
    )


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _at_hash(algorithm: str, access_token: Any) -> str | None:
    """Return the `at_hash` of an access token (section 3.1.3.6)."""
    digest = _DIGESTS.get(algorithm[-3:], hashlib.sha512)  # Ed25519 hashes so (RFC 8032)
    if not isinstance(access_token, str):
        return None
    digest_bytes = digest(access_token.encode()).digest()
    return base64.urlsafe_b64encode(digest_bytes[: len(digest_bytes) // 2]).rstrip(b"=").decode()
