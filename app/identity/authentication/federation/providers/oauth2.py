"""OAuth 2.0 providers with a proprietary user information endpoint (RFC 6749, RFC 7636)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote_plus

from authlib.common.errors import AuthlibBaseError
from httpx import HTTPError, InvalidURL  # noqa: TID251 - its errors alone

from app.contract.connections import ConnectionSettings
from app.identity.directory.identity_provider import (
    AuthenticationRequest,
    ProviderDenied,
    ProviderIdentity,
    identity_from_claims,
)
from app.identity.platform import outbound
from app.identity.platform.openid_metadata import PARSE_ERRORS, Endpoints
from app.identity.platform.outbound import ProviderUnavailable
from app.kit.oauth_client import OAuth2Client, OAuthError
from app.kit.public_addresses import Resolver

_MAX_CODE_LENGTH: Final = 8_000
_INVALID_CODE_ERRORS: Final = frozenset({"invalid_grant", "bad_verification_code"})  # the second is GitHub's


@dataclass(frozen=True)
class OAuth2Provider:
    """A tenant's client at an OAuth 2.0 provider."""

    name: str
    settings: ConnectionSettings
    secret: str = field(repr=False)
    resolver: Resolver

    def authorization_url(
        self, request: AuthenticationRequest, *, hint: str, is_reauthentication: bool, language: str
    ) -> str:
        """Return the authorization URL; OAuth 2.0 has no parameters for the account or for a reauthentication."""
        del hint, is_reauthentication, language
        if not (self.secret or self.settings.pkce):
            raise ProviderUnavailable("neither a secret nor a verifier would protect the code")
        return authorization_url(self.settings, self._endpoints(), request, scope=self.settings.scope)

    def fetch_identity(
        self, request: AuthenticationRequest, parameters: Mapping[str, str], now: datetime
    ) -> ProviderIdentity:
        del now
        token = exchange_code(
            self.resolver, self.settings, self.secret, self._endpoints(), request, read_code(parameters)
        )
        access_token = read_access_token(token)
        claims = outbound.get_json_object(self.resolver, self.settings.userinfo_endpoint or "", access_token)
        names = self.settings.names
        if self.settings.emails_endpoint:
            claims = claims | _primary_email(
                outbound.get_json(self.resolver, self.settings.emails_endpoint, access_token), names
            )
        return identity_from_claims(self.name, names, claims)

    def _endpoints(self) -> Endpoints:
        settings = self.settings
        method = settings.token_endpoint_auth_method or "client_secret_post"
        return Endpoints(settings.authorization_endpoint or "", settings.token_endpoint or "", method)


def authorization_url(
    settings: ConnectionSettings, endpoints: Endpoints, request: AuthenticationRequest, *, scope: str, **extra: str
) -> str:
    """Return the authorization URL, with state and PKCE."""
    with _client(Resolver(), settings, "", endpoints, request) as client:  # no request is sent
        address, _ = client.create_authorization_url(
            endpoints.authorization,
            state=request.state,
            code_verifier=request.code_verifier if settings.pkce else None,
            scope=scope or None,
            **extra,
        )
    return str(address)


def read_code(parameters: Mapping[str, str]) -> str:
    """Return the code of a callback. Raises ProviderDenied if it has none."""
    if "error" in parameters:
        raise ProviderDenied(f"it answered {parameters['error'][:40]!r}")
    code = parameters.get("code", "")
    if not 0 < len(code) <= _MAX_CODE_LENGTH:
        raise ProviderDenied("there is no code")
    return code


def exchange_code(
    resolver: Resolver,
    settings: ConnectionSettings,
    secret: str,
    endpoints: Endpoints,
    request: AuthenticationRequest,
    code: str,
) -> Mapping[str, Any]:
    """Exchange a code (RFC 6749 section 4.1.3). Raises ProviderDenied, ProviderUnavailable."""
    pkce = {"code_verifier": request.code_verifier} if settings.pkce else {}
    with _client(resolver, settings, secret, endpoints, request) as client:
        try:
            response: Mapping[str, Any] = client.fetch_token(
                endpoints.token, grant_type="authorization_code", code=code, **pkce
            )
        except OAuthError as refusal:
            if str(refusal.error) in _INVALID_CODE_ERRORS:
                raise ProviderDenied("the code is not good") from None
            raise ProviderUnavailable(f"the token endpoint answered {str(refusal.error)[:40]!r}") from None
        except (HTTPError, InvalidURL, AuthlibBaseError, *PARSE_ERRORS) as problem:  # its text may contain the secret
            raise ProviderUnavailable(f"the token endpoint did not answer: {type(problem).__name__}") from None
    return response


def read_access_token(response: Mapping[str, Any]) -> str:
    """Return the access token of a response. Raises ProviderUnavailable if it has none that fits a header."""
    token = response.get("access_token")
    if not isinstance(token, str) or not token or not token.isascii() or not token.isprintable():
        raise ProviderUnavailable("the token endpoint gave no access token")
    return token


def _client(
    resolver: Resolver, settings: ConnectionSettings, secret: str, endpoints: Endpoints, request: AuthenticationRequest
) -> OAuth2Client:
    method = endpoints.auth_method if secret else "none"
    is_basic = method == "client_secret_basic"  # both are form-encoded (RFC 6749 section 2.3.1)
    return OAuth2Client(
        quote_plus(settings.key) if is_basic else settings.key,
        quote_plus(secret) if is_basic else secret or None,
        redirect_uri=request.redirect_uri,
        code_challenge_method="S256",
        token_endpoint_auth_method=method,
        transport=outbound.BoundedTransport(resolver),
    )


def _primary_email(response: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the claims of the primary address in a list such as GitHub's."""
    entries = [entry for entry in response if isinstance(entry, dict)] if isinstance(response, list) else []
    primary: dict[str, Any] = next((entry for entry in entries if entry.get("primary") is True), {})
    return {names["email"]: primary.get("email"), names["email_verified"]: primary.get("verified")}
