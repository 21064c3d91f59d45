"""OpenID Connect providers: discovery (Discovery section 4) and the checks of an id_token (Core section 3.1.3.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar, Final

from app.contract.federation import connection_completion
from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.connection_completion import quirks_of, supports_reauthentication
from app.contract.federation.connections import ConnectionSettings
from app.identity.authentication.federation.providers import id_tokens
from app.identity.authentication.federation.providers.id_tokens import ExpectedIdToken
from app.identity.authentication.federation.providers.oauth2 import (
    authorization_url,
    exchange_code,
    fetch_by_refresh_token,
    read_access_token,
    read_code,
    read_tokens,
    redeem_native_code,
    renew_tokens,
    tokens_in,
)
from app.identity.directory.identity_provider import (
    AuthenticationRequest,
    ProfileUnsupported,
    ProviderIdentity,
    ProviderTokens,
    identity_from_claims,
)
from app.identity.platform.jwts import SKEW_SECONDS, Keys, is_time
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.findings import checking, kind_of_value
from app.identity.platform.outbound.openid_metadata import (
    Endpoints,
    ProviderMetadata,
    ProviderMetadataCache,
    is_of_many_directories,
)
from app.identity.platform.outbound.outbound_http import ProviderUnavailable

_GOOGLE_DOMAINS: Final = ("gmail.com", "googlemail.com")
_OWN_SUBJECTS: Final = ("sub", "oid")
"""Claims of Microsoft's that no directory chooses."""
_ISSUER: Final = ConnectionCheck.ANSWER_ISSUER
SCOPE: Final = "openid profile email"


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
            if is_reauthentication and supports_reauthentication(self.settings)
            else {}
        )
        # only Google issues refresh tokens by this parameter
        offline = (
            {"access_type": "offline"}
            if self.settings.keep_provider_tokens and self.issuer == connection_completion.GOOGLE
            else {}
        )
        quirks = quirks_of(self.settings)
        hints = self.optional_parameters(hint, language) if quirks.takes_hints else {}
        nonce = {"nonce": request.nonce} if quirks.returns_nonce else {}
        optional = {**nonce, **hints, **reauthentication, **offline}
        present = {name: value for name, value in optional.items() if value}
        scope = self.settings.scope or SCOPE
        endpoints = self._endpoints(self.metadata_cache.metadata(self.issuer))
        return authorization_url(self.settings, endpoints, request, scope=scope, **present)

    def optional_parameters(self, hint: str, language: str) -> dict[str, str]:
        """Return parameters of an authentication request that are sent unless they are empty (Core section 3.1.2.1)."""
        return {"login_hint": hint, "ui_locales": language}

    def needs_userinfo(self, claims: Mapping[str, Any]) -> bool:
        """Return whether an id_token lacks claims that userinfo may have."""
        return not claims.get(self.settings.names["email"])

    def fetch_identity(
        self, request: AuthenticationRequest, parameters: Mapping[str, str], now: datetime
    ) -> tuple[ProviderIdentity, ProviderTokens | None]:
        claims, token = self.fetch_claims(request, parameters, now)
        with checking(ConnectionCheck.USERINFO, *tokens_in(token)):
            identity = self.identity_of(claims)
        if quirks_of(self.settings).posts_user:
            from app.identity.authentication.federation.providers.posted_user import with_posted_name  # noqa: PLC0415 - for Apple only

            identity = with_posted_name(identity, parameters.get("user", ""))
        return replace(identity, is_anew=_is_reauthenticated(claims, request.requested_at)), read_tokens(token, now)

    def fetch_claims(
        self, request: AuthenticationRequest, parameters: Mapping[str, str], now: datetime
    ) -> tuple[dict[str, Any], Mapping[str, Any]]:
        """Return the verified claims for the callback's parameters, and the token response. Raises as `fetch_identity`."""
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
        quirks = quirks_of(self.settings)
        with checking(ConnectionCheck.USERINFO, *tokens_in(token)):
            return self.verified_claims(token, metadata, request.nonce if quirks.returns_nonce else None, now), token

    def redeem_code(
        self, code: str, redirect_uri: str, now: datetime
    ) -> tuple[ProviderIdentity, ProviderTokens | None]:
        """Return the identity of a code that an app requested. Raises ProviderDenied, ProviderUnavailable."""
        metadata = self.metadata_cache.metadata(self.issuer)
        resolver, endpoints = self.metadata_cache.resolver, self._endpoints(metadata)
        token = redeem_native_code(resolver, self.settings, self.secret, endpoints, code, redirect_uri)
        with checking(ConnectionCheck.USERINFO, *tokens_in(token)):
            return self.identity_of(self.verified_claims(token, metadata, None, now)), read_tokens(token, now)

    def redeem_refresh_token(self, refresh_token: str, now: datetime) -> ProviderIdentity:
        """Return the identity of a refresh token, if the provider answers with an id_token. Raises ProviderUnavailable."""
        metadata = self.metadata_cache.metadata(self.issuer)
        resolver, endpoints = self.metadata_cache.resolver, self._endpoints(metadata)
        token = fetch_by_refresh_token(resolver, self.settings, self.secret, endpoints, refresh_token)
        with checking(ConnectionCheck.USERINFO, *tokens_in(token)):
            return self.identity_of(self.verified_claims(token, metadata, None, now))

    def id_token_keys(self) -> tuple[str, Keys]:
        """Return the `iss` of the provider's ID tokens and the look-up of its keys. Raises ProviderUnavailable."""
        metadata = self.metadata_cache.metadata(self.issuer)
        return metadata.issuer, lambda kid: self.metadata_cache.keys(metadata.jwks, kid)

    def read_identity(self, access_token: str) -> ProviderIdentity:
        """Return the identity at the userinfo endpoint (Core section 5.3)."""
        userinfo = self._userinfo(self.metadata_cache.metadata(self.issuer))
        if not userinfo:
            raise ProfileUnsupported
        with checking(ConnectionCheck.USERINFO, access_token):
            return self.identity_of(outbound_http.get_json_object(self.metadata_cache.resolver, userinfo, access_token))

    def identity_of(self, claims: Mapping[str, Any]) -> ProviderIdentity:
        """Return the identity that the provider claims. Raises ProviderUnavailable."""
        self._check_subject()
        identity = identity_from_claims(self.name, self.settings.names, claims)
        return replace(identity, gives_email=owns_mailbox_domain(self.issuer, identity.email or "", claims))

    def _check_subject(self) -> None:
        """Refuse a subject that directories choose at an issuer of many: each could claim the accounts of another."""
        subject = self.settings.names["subject"]
        if is_of_many_directories(self.issuer) and subject not in _OWN_SUBJECTS:
            text = "its directories choose the claim of the subject"
            expected = f"claims.subject: {' or '.join(_OWN_SUBJECTS)}"
            raise ProviderUnavailable(
                text, check=ConnectionCheck.CONFIGURATION, expected=expected, received=f"claims.subject: {subject}"
            )

    def renew_tokens(self, tokens: ProviderTokens, now: datetime) -> ProviderTokens:
        endpoints = self._endpoints(self.metadata_cache.metadata(self.issuer))
        return renew_tokens(self.metadata_cache.resolver, self.settings, self.secret, endpoints, tokens, now)

    def _endpoints(self, metadata: ProviderMetadata) -> Endpoints:
        own, discovered = self.settings, metadata.endpoints  # an organization's connection may state addresses, too
        return Endpoints(
            own.authorization_endpoint or discovered.authorization,
            own.token_endpoint or discovered.token,
            own.token_endpoint_auth_method or discovered.auth_method,
        )

    def _userinfo(self, metadata: ProviderMetadata) -> str:
        return self.settings.userinfo_endpoint or metadata.userinfo

    def _check_issuer(self, parameters: Mapping[str, str], metadata: ProviderMetadata) -> None:
        """Reject a response of another issuer (RFC 9207 section 2.4)."""
        if "iss" in parameters and parameters["iss"] not in (self.issuer, metadata.issuer):
            raise ProviderUnavailable(
                "the answer is another issuer's",
                check=_ISSUER,
                expected=f"iss: {self.issuer}",
                received=parameters["iss"],
            )
        if metadata.sends_issuer and parameters.keys().isdisjoint({"iss", "error"}):
            text = "the answer does not name its issuer"
            raise ProviderUnavailable(text, check=_ISSUER, expected=f"iss: {self.issuer}", received="no iss")

    def verified_claims(
        self, token: Mapping[str, Any], metadata: ProviderMetadata, nonce: str | None, now: datetime
    ) -> dict[str, Any]:
        """Verify the id_token of a token response and return its claims, with those of userinfo if they lack an address."""
        expected = ExpectedIdToken(
            metadata.issuer, self.settings.key, now, nonce, access_token=token.get("access_token")
        )
        text = str(token.get("id_token") or "")
        claims = id_tokens.verify(text, lambda kid: self.metadata_cache.keys(metadata.jwks, kid), expected)
        userinfo = self._userinfo(metadata)
        if userinfo and self.needs_userinfo(claims):
            return self._with_userinfo(claims, userinfo, read_access_token(token))
        return claims

    def _with_userinfo(self, claims: dict[str, Any], address: str, access_token: str) -> dict[str, Any]:
        userinfo = outbound_http.get_json_object(self.metadata_cache.resolver, address, access_token)
        if userinfo.get("sub") != claims["sub"]:  # OpenID Connect Core section 5.3.2
            received = f"another sub, {kind_of_value(userinfo.get('sub'))}"
            raise ProviderUnavailable(
                "userinfo is about another subject", expected="the sub of the ID token", received=received
            )
        return {**userinfo, **claims}


def owns_mailbox_domain(issuer: str, email: str, claims: Mapping[str, Any]) -> bool:
    """Return whether the provider operates the mailbox; Google verifies addresses of other domains only once.

    See developers.google.com/identity/sign-in/web/backend-auth.
    """
    domain = email.rpartition("@")[2].lower()
    return issuer != connection_completion.GOOGLE or domain in _GOOGLE_DOMAINS or claims.get("hd") == domain


def _is_reauthenticated(claims: Mapping[str, Any], requested_at: datetime | None) -> bool:
    """Return whether a new authentication was requested and happened.

    Some providers omit `auth_time` although `max_age` requires it (section 3.1.2.1), and some do not reauthenticate.
    """
    authenticated_at: Any = claims.get("auth_time")
    return (
        requested_at is not None
        and is_time(authenticated_at)
        and bool(authenticated_at >= requested_at.timestamp() - SKEW_SECONDS)
    )
