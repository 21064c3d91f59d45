"""OAuth 2.0 providers with a proprietary user information endpoint (RFC 6749, RFC 7636)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import quote_plus, urlsplit, urlunsplit

from app.contract.federation.connection_checks import CallFailure, ConnectionCheck
from app.contract.federation.connection_completion import quirks_of
from app.contract.federation.connections import ConnectionSettings
from app.identity.directory.identity_provider import (
    AuthenticationRequest,
    ProviderDenied,
    ProviderIdentity,
    ProviderTokens,
    identity_from_claims,
)
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.findings import FindingTexts, checking, claim_names, error_name, kind_of_value
from app.identity.platform.outbound.openid_metadata import PARSE_ERRORS, Endpoints
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.outbound.host_resolver import Resolver

if TYPE_CHECKING:
    from httpx import Response  # noqa: TID251 - a type alone

    from app.kit.outbound.oauth_client import OAuth2Client

_MAX_CODE_LENGTH: Final = 8_000
_MAX_TOKEN_LENGTH: Final = 8_000
_MAX_LIFETIME_SECONDS: Final = 366 * 86_400
_CALLBACK: Final = ConnectionCheck.AUTHORIZATION_ANSWER
_TOKEN: Final = ConnectionCheck.TOKEN_ENDPOINT
_INVALID_CODE_ERRORS: Final = frozenset({"invalid_grant", "bad_verification_code"})  # the second is GitHub's


@dataclass(frozen=True)
class OAuth2Provider:
    """A tenant's client at an OAuth 2.0 provider."""

    has_id_token: ClassVar[bool] = False
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
            text = "neither a secret nor a verifier would protect the code"
            raise ProviderUnavailable(
                text,
                check=ConnectionCheck.CONFIGURATION,
                expected="a client secret, or `pkce` turned on",
                received="no client secret, and `pkce` turned off",
            )
        return authorization_url(self.settings, self._endpoints(), request, scope=self.settings.scope)

    def fetch_identity(
        self, request: AuthenticationRequest, parameters: Mapping[str, str], now: datetime
    ) -> tuple[ProviderIdentity, ProviderTokens | None]:
        response = exchange_code(
            self.resolver, self.settings, self.secret, self._endpoints(), request, read_code(parameters)
        )
        with checking(ConnectionCheck.USERINFO, *tokens_in(response)):
            return self._identity(read_access_token(response), response), read_tokens(response, now)

    def read_identity(self, access_token: str) -> ProviderIdentity:
        with checking(ConnectionCheck.USERINFO, access_token):
            return self._identity(access_token, None)

    def redeem_code(
        self, code: str, redirect_uri: str, now: datetime
    ) -> tuple[ProviderIdentity, ProviderTokens | None]:
        """Return the identity of a code that an app requested. Raises ProviderDenied, ProviderUnavailable."""
        response = redeem_native_code(self.resolver, self.settings, self.secret, self._endpoints(), code, redirect_uri)
        with checking(ConnectionCheck.USERINFO, *tokens_in(response)):
            return self._identity(read_access_token(response), response), read_tokens(response, now)

    def _identity(self, access_token: str, response: Mapping[str, Any] | None) -> ProviderIdentity:
        """Return the identity of an access token, and of the token response if there is one."""
        from app.identity.authentication.federation.providers import oauth2_profile  # noqa: PLC0415 - with the first profile

        claims = oauth2_profile.read_claims(self.resolver, self.settings, self.secret, access_token, response)
        return identity_from_claims(self.name, self.settings.names, claims)

    def renew_tokens(self, tokens: ProviderTokens, now: datetime) -> ProviderTokens:
        return renew_tokens(self.resolver, self.settings, self.secret, self._endpoints(), tokens, now)

    def _endpoints(self) -> Endpoints:
        settings = self.settings
        method = settings.token_endpoint_auth_method or "client_secret_post"
        return Endpoints(settings.authorization_endpoint or "", settings.token_endpoint or "", method)


def authorization_url(
    settings: ConnectionSettings, endpoints: Endpoints, request: AuthenticationRequest, *, scope: str, **extra: str
) -> str:
    """Return the authorization URL, with state and PKCE.

    Further scopes of the request join those of the connection. Without any of these the provider grants its default, which they
    would replace.
    """
    quirks = quirks_of(settings)
    scopes = " ".join(dict.fromkeys((*scope.split(), *request.further_scopes))) if scope else None
    with _client(Resolver(), settings, "", endpoints, request.redirect_uri) as client:  # no request is sent
        address, _ = client.create_authorization_url(
            endpoints.authorization,
            state=request.state,
            code_verifier=request.code_verifier if settings.pkce else None,
            scope=scopes,
            **{**quirks.authorization_parameters, **extra},
        )
    parts = urlsplit(str(address))
    query = parts.query.replace("client_id=", f"{quirks.client_id_name}=", 1)
    return urlunsplit(parts._replace(query=query, fragment=quirks.authorization_fragment))


def read_code(parameters: Mapping[str, str]) -> str:
    """Return the code of a callback. Raises ProviderDenied if it has none."""
    if "error" in parameters:
        error = error_name(parameters["error"])
        raise ProviderDenied(f"it answered {error}", check=_CALLBACK, expected="a code", received=f"error: {error}")
    code = parameters.get("code", "")
    if not 0 < len(code) <= _MAX_CODE_LENGTH:
        received = f"a code of {len(code)} characters" if code else "no code"
        raise ProviderDenied("there is no code", check=_CALLBACK, expected="a code", received=received)
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
    parameters = {"code": code, **({"code_verifier": request.code_verifier} if settings.pkce else {})}
    if quirks_of(settings).token_method == "GET":
        return _get_token(resolver, settings, secret, endpoints, request.redirect_uri, **parameters)
    with _client(resolver, settings, secret, endpoints, request.redirect_uri) as client:
        return _fetch_token(client, endpoints.token, grant_type="authorization_code", **parameters)


def redeem_native_code(
    resolver: Resolver, settings: ConnectionSettings, secret: str, endpoints: Endpoints, code: str, redirect_uri: str
) -> Mapping[str, Any]:
    """Exchange a code that an app requested, without a code verifier of ours. Raises ProviderDenied, ProviderUnavailable.

    An empty redirect URI is sent: Google requires the parameter and takes it so from apps.
    """
    if not secret:
        text = "without a client secret a code proves nothing"
        raise ProviderUnavailable(
            text, check=ConnectionCheck.CONFIGURATION, expected="a client secret", received="no client secret"
        )
    if quirks_of(settings).token_method == "GET":
        return _get_token(resolver, settings, secret, endpoints, redirect_uri, code=code)
    with _client(resolver, settings, secret, endpoints, redirect_uri or None) as client:
        body = "" if redirect_uri else "redirect_uri="
        return _fetch_token(client, endpoints.token, body=body, grant_type="authorization_code", code=code)


def fetch_by_refresh_token(
    resolver: Resolver, settings: ConnectionSettings, secret: str, endpoints: Endpoints, refresh_token: str
) -> Mapping[str, Any]:
    """Return the response for a refresh token (RFC 6749 section 6). Raises ProviderUnavailable."""
    parameters = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    try:
        if quirks_of(settings).token_method == "GET":
            return _get_token(resolver, settings, secret, endpoints, None, **parameters)
        with _client(resolver, settings, secret, endpoints) as client:
            return _fetch_token(client, endpoints.token, **parameters)
    except ProviderDenied:
        text = "the refresh token is not good"
        raise ProviderUnavailable(
            text,
            error="invalid_grant",
            check=ConnectionCheck.REFRESH_TOKEN,
            expected="tokens for the refresh token",
            received="the error that it isn’t valid",
        ) from None


def renew_tokens(
    resolver: Resolver,
    settings: ConnectionSettings,
    secret: str,
    endpoints: Endpoints,
    tokens: ProviderTokens,
    now: datetime,
) -> ProviderTokens:
    """Exchange a refresh token (RFC 6749 section 6); it stays valid unless the response has another one.

    Raises ProviderUnavailable.
    """
    response = fetch_by_refresh_token(resolver, settings, secret, endpoints, tokens.refresh_token)
    renewed = read_tokens(response, now)
    if renewed is None:
        raise ProviderUnavailable("the token endpoint gave no access token", **_without_token(response))
    return renewed if renewed.refresh_token else replace(renewed, refresh_token=tokens.refresh_token)


def _fetch_token(client: OAuth2Client, url: str, **parameters: str) -> Mapping[str, Any]:
    """Request tokens. Raises ProviderDenied for an invalid grant, ProviderUnavailable."""
    from httpx import HTTPError, InvalidURL  # noqa: TID251 - its errors alone

    from app.identity.platform.outbound.bounded_transport import answer_of
    from app.kit.outbound.oauth_client import AuthlibBaseError, OAuthError

    client.register_compliance_hook("access_token_response", partial(_readable, url))
    try:
        with checking(_TOKEN):
            response: Mapping[str, Any] = client.fetch_token(url, **parameters)
    except OAuthError as refusal:
        raise _error_of(refusal.error) from None
    except (HTTPError, InvalidURL) as problem:  # its text may contain the secret
        with checking(_TOKEN):
            raise outbound_http.unusable(url, answer_of(problem)) from None
    except (AuthlibBaseError, *PARSE_ERRORS):  # as above
        raise ProviderUnavailable(
            "the token endpoint answered no tokens",
            check=_TOKEN,
            expected="tokens, and their lifetime as a number of seconds",
            received="JSON with values that can’t be read",
            cause=CallFailure.WRONG_TYPE.value,
        ) from None
    return response


def _error_of(named: Any) -> ProviderDenied | ProviderUnavailable:
    """Return the refusal for an `error` (RFC 6749 section 5.2)."""
    name, error = error_name(named), str(named)[:40]
    if error in _INVALID_CODE_ERRORS:
        received = f"error: {error}"
        return ProviderDenied(
            "the code is not good", check=ConnectionCheck.CODE, expected="tokens for the code", received=received
        )
    return ProviderUnavailable(
        f"the token endpoint answered {name}", error=error, check=_TOKEN, expected="tokens", received=f"error: {name}"
    )


def _readable(url: str, response: Response) -> Response:
    """Return a response that has tokens or an error (RFC 6749 sections 5.1 and 5.2). Raises ProviderUnavailable for another."""
    from app.identity.platform.outbound import unusable_answers  # noqa: PLC0415 - with the first call

    status = response.status_code
    members, wrong = unusable_answers.json_of(response.content, outbound_http.OBJECT, is_object=True)
    is_error = status < 500 and wrong is None and bool(members.get("error"))
    if not (response.is_success or is_error):
        wrong = unusable_answers.of_status(status, response.headers.get("location"))
    if wrong is not None:
        raise outbound_http.unusable(url, wrong, status=status if status >= 300 else None)
    return response


def _get_token(
    resolver: Resolver,
    settings: ConnectionSettings,
    secret: str,
    endpoints: Endpoints,
    redirect_uri: str | None,
    **parameters: str,
) -> Mapping[str, Any]:
    """Request tokens of a provider that takes a GET, with the parameters and the secret in the URL.

    Raises ProviderDenied for an invalid code, ProviderUnavailable.
    """
    from app.identity.authentication.federation.providers import provider_answers  # noqa: PLC0415 - for few providers

    quirks = quirks_of(settings)
    if not secret:
        text = "without a client secret a code proves nothing"
        raise ProviderUnavailable(
            text, check=ConnectionCheck.CONFIGURATION, expected="a client secret", received="no client secret"
        )
    query = {
        "grant_type": "authorization_code",
        quirks.client_id_name: settings.key,
        quirks.client_secret_name: secret,
        **quirks.token_parameters,
        **({"redirect_uri": redirect_uri or ""} if quirks.sends_redirect_uri and redirect_uri is not None else {}),
        **parameters,
    }
    try:
        with checking(_TOKEN, secret, *parameters.values()):
            return provider_answers.get_members(resolver, provider_answers.with_query(endpoints.token, query), quirks)
    except ProviderUnavailable as refusal:
        if refusal.error in quirks.code_errors:
            received = f"error: {error_name(refusal.error)}"
            raise ProviderDenied(
                "the code is not good", check=ConnectionCheck.CODE, expected="tokens for the code", received=received
            ) from None
        raise


def read_access_token(response: Mapping[str, Any]) -> str:
    """Return the access token of a response. Raises ProviderUnavailable if it has none that fits a header."""
    token = _token_text(response, "access_token")
    if not token:
        raise ProviderUnavailable("the token endpoint gave no access token", **_without_token(response))
    return token


def tokens_in(response: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the secrets of a token response, which no finding may have."""
    return tuple(response.get(name) for name in ("access_token", "refresh_token", "id_token"))


def _without_token(response: Mapping[str, Any]) -> FindingTexts:
    token, names = response.get("access_token"), claim_names(response)
    received = f"an answer with {names}" if token is None else f"access_token: {kind_of_value(token)}"
    return {"check": _TOKEN, "expected": "access_token: printable text", "received": received}


def read_tokens(response: Mapping[str, Any], now: datetime) -> ProviderTokens | None:
    """Return the tokens of a response; None without an access token of a length that is kept."""
    access_token, refresh_token = (_token_text(response, name) for name in ("access_token", "refresh_token"))
    if not 0 < len(access_token) <= _MAX_TOKEN_LENGTH:
        return None
    seconds = response.get("expires_in")
    if isinstance(seconds, str) and seconds.isascii() and seconds.isdecimal() and len(seconds) <= 9:
        seconds = int(seconds)
    is_time = isinstance(seconds, int) and not isinstance(seconds, bool) and seconds > 0
    expires_at = now + timedelta(seconds=min(int(seconds or 0), _MAX_LIFETIME_SECONDS)) if is_time else None
    return ProviderTokens(access_token, refresh_token if len(refresh_token) <= _MAX_TOKEN_LENGTH else "", expires_at)


def _token_text(response: Mapping[str, Any], name: str) -> str:
    """Return a token that fits a header, otherwise an empty string."""
    token = response.get(name)
    return token if isinstance(token, str) and token.isascii() and token.isprintable() else ""


def _client(
    resolver: Resolver, settings: ConnectionSettings, secret: str, endpoints: Endpoints, redirect_uri: str | None = None
) -> OAuth2Client:
    from app.identity.platform.outbound.bounded_transport import BoundedTransport
    from app.kit.outbound.oauth_client import OAuth2Client

    method = endpoints.auth_method if secret else "none"
    is_basic = method == "client_secret_basic"  # both are form-encoded (RFC 6749 section 2.3.1)
    return OAuth2Client(
        quote_plus(settings.key) if is_basic else settings.key,
        quote_plus(secret) if is_basic else secret or None,
        redirect_uri=redirect_uri,
        code_challenge_method="S256",
        token_endpoint_auth_method=method,
        transport=BoundedTransport(resolver),
    )
