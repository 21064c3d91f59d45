"""Verifies the credential that a provider's SDK returned to an app, and returns its identity (decision 0182).

A credential is accepted only if the provider issued it to the tenant's own client: the operator of another app could
present the tokens of its users here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from joserfc.jwk import Key

from app.contract import errors
from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.connection_completion import can_sign_in, native_settings
from app.contract.federation.connections import STANDARD_CLAIMS, ConnectionSettings
from app.contract.federation.native_sign_in_operations import PROVIDERS, Kind, NativeSignIn, kind_of
from app.identity.authentication.federation import (
    connection_traces,
    federated_sign_in,
    jwt_providers,
    provider_clients,
)
from app.identity.authentication.federation.providers import id_tokens, provider_introspection
from app.identity.authentication.federation.providers.id_tokens import ExpectedIdToken, IdTokenRefused
from app.identity.authentication.federation.providers.oauth2 import OAuth2Provider
from app.identity.authentication.federation.providers.openid import OpenIdProvider
from app.identity.directory.identity_provider import (
    ProfileUnsupported,
    ProviderIdentity,
    ProviderTokens,
    identity_from_claims,
)
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.identity.platform.jwts import SKEW_SECONDS
from app.identity.platform.outbound.findings import UpstreamRefusal, checking
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.operations.errors import ApiError

log = logging.getLogger("gatehouse.identity")

_CREDENTIALS: Final = (
    "id_token", "code", "refresh_token", "tw_access_token", "tw_token_secret", "google_authcode", "google_access_token",
    "fs_access_token", "ln_access_token", "fb_access_token",
)  # fmt: skip
"""The parameters of an app that no log and no trace may have."""
_MAX_LIFETIME: Final = timedelta(days=1, minutes=5)
"""How long an id_token may still be valid: a used one is remembered until then."""


@dataclass(frozen=True)
class VerifiedIdentity:
    """The identity of a verified credential.

    `trusts_email`: whether the tenant trusts the provider's claim about the address. `tokens` are the provider's, if it issued
    them to the tenant's client. `id_token` is the signed part of an id_token, which is valid until `valid_until`.
    """

    identity: ProviderIdentity
    trusts_email: bool = False
    tokens: ProviderTokens | None = None
    id_token: str = field(default="", repr=False)
    valid_until: float = 0


def verify(context: Context, req: NativeSignIn) -> VerifiedIdentity:
    """Verify the credential of an app's request and return its identity; calls the provider outside of a transaction.

    Raises:
        UnknownConnection: no such `nativeProvider`.
        ConnectionNotConfigured: the tenant has no active connection to it, or it cannot verify what the app presents.
        BadParameter, ProviderTokenMissing, ProviderTokenSecretMissing: a parameter is missing or malformed.
        JwtRefused, JwtWithoutSubject: the id_token is not valid.
        ProviderFailed: the provider refused, or did not respond.
    """
    name = req.native_provider.lower()
    kind = PROVIDERS.get(name)
    if kind is None:
        raise errors.UnknownConnection(f"nativeProvider: one of {', '.join(PROVIDERS)}.")
    verifier = _sender(context, req) if kind == "jwt" else _client(context, kind, req)
    send_request = verifier.request(name, req)
    context.work.release_connection()
    try:
        return send_request()
    except ProfileUnsupported:
        raise errors.ProviderFailed(provider_response="invalid_grant") from None
    except UpstreamRefusal as problem:
        secrets = (verifier.key, *(str(getattr(req, field) or "") for field in _CREDENTIALS))
        raise _refused(context, verifier.connection, problem, _error_of(name, problem), secrets) from None


def verify_jwt(context: Context, sender: jwt_providers.JwtSender, text: str) -> VerifiedIdentity:
    """Verify a JWT of a custom provider and return its identity; fetches a key set outside of a transaction.

    Raises JwtRefused, JwtWithoutSubject.
    """
    context.work.release_connection()
    try:
        return _CredentialSender(context, sender).by_jwt(text)
    except UpstreamRefusal as problem:
        raise _refused(context, sender.name, problem, _error_of("jwt", problem), (sender.key, text)) from None


def _error_of(name: str, problem: UpstreamRefusal) -> ApiError:
    """Return what an app is told by `nativeProvider`."""
    if isinstance(problem, jwt_providers.SubjectMissing):
        return errors.JwtWithoutSubject()
    if isinstance(problem, IdTokenRefused):
        return errors.JwtRefused() if name.endswith("jwt") else errors.ProviderFailed()
    if isinstance(problem, ProviderUnavailable):
        return errors.ProviderFailed(provider_response=federated_sign_in.provider_response(problem))
    return errors.ProviderFailed(provider_response="invalid_grant")


def _refused(
    context: Context, connection: str, problem: UpstreamRefusal, error: ApiError, secrets: Iterable[str]
) -> ApiError:
    """Record the refusal and return the error with the reference of the request."""
    connection_traces.record(context, connection, problem, secrets=secrets)
    level = logging.WARNING if type(problem) is ProviderUnavailable else logging.INFO
    log.log(level, "sign-in of an app by %s: %s", connection, problem)
    error.description = f"{error.description} Quote reference {context.raw.request_id}."
    return error


def use_id_token(context: Context, verified: VerifiedIdentity) -> None:
    """Record that an id_token signs in, in the transaction of its sign-in. Only one of several concurrent uses succeeds.

    Raises JwtRefused: it was used before.
    """
    if not verified.id_token:
        return
    text = f"{verified.identity.provider} {verified.id_token}"
    lifetime = timedelta(seconds=verified.valid_until - context.now.timestamp() + 1)
    try:
        continuation_tokens.issue(context, ContinuationPurpose.USED_ID_TOKEN, NO_ACCOUNT, lifetime=lifetime, text=text)
    except continuation_tokens.TokenExists:
        used = IdTokenRefused("the id_token was used before", check=ConnectionCheck.REPLAY, expected="a new id_token")
        error = errors.JwtRefused("This id_token was used before; get another one from the provider.")
        raise _refused(context, verified.identity.provider, used, error, (verified.id_token,)) from None


@dataclass(frozen=True)
class _CredentialSender:
    """A JWT custom provider of the tenant."""

    context: Context
    sender: jwt_providers.JwtSender

    @property
    def connection(self) -> str:
        return self.sender.name

    @property
    def key(self) -> str:
        return self.sender.key

    def request(self, _name: str, req: NativeSignIn) -> Callable[[], VerifiedIdentity]:
        text = req.id_token or self.context.raw.bearer() or ""
        if not text:
            raise errors.BadParameter.names("id_token")
        return lambda: self.by_jwt(text)

    def by_jwt(self, text: str) -> VerifiedIdentity:
        identity, valid_until = jwt_providers.verify(self.context, self.sender, text)
        is_trusted = jwt_providers.trusts_email(self.sender, identity)
        identity = replace(identity, email_verified=identity.email_verified and is_trusted)
        return _with_id_token(self.context, VerifiedIdentity(identity, is_trusted), text, valid_until)


@dataclass(frozen=True)
class _Client:
    """The tenant's client at a provider. `name` is the connection's, `settings` are complete."""

    context: Context
    kind: Kind
    name: str
    settings: ConnectionSettings

    def provider(self) -> OpenIdProvider | OAuth2Provider:
        """Return the client that sends requests. Raises ProviderUnavailable."""
        return provider_clients.client(self.context, self.name, self.settings)

    @property
    def connection(self) -> str:
        return self.name

    @property
    def key(self) -> str:
        return ""

    def request(self, name: str, req: NativeSignIn) -> Callable[[], VerifiedIdentity]:
        """Return the request that verifies the credential. Raises for a missing parameter."""
        return _REQUESTS[name](self, req)

    def by_id_token(self, req: NativeSignIn) -> Callable[[], VerifiedIdentity]:
        if not req.id_token:
            raise errors.BadParameter.names("id_token")
        if not (self.settings.issuer or self.settings.jwks_endpoint):
            raise errors.ConnectionNotConfigured
        text = req.id_token
        return lambda: self._verify_id_token(text)

    def by_code(self, req: NativeSignIn) -> Callable[[], VerifiedIdentity]:
        return self._code_request(req.code, req)

    def by_refresh_token(self, req: NativeSignIn) -> Callable[[], VerifiedIdentity]:
        if not self.settings.issuer:
            raise errors.ConnectionNotConfigured
        text = req.refresh_token or ""
        return lambda: self._redeem_refresh_token(text)

    def by_facebook(self, req: NativeSignIn) -> Callable[[], VerifiedIdentity]:
        return self._access_token_request("fb_access_token", req.fb_access_token)

    def by_linkedin(self, req: NativeSignIn) -> Callable[[], VerifiedIdentity]:
        return self._access_token_request("ln_access_token", req.ln_access_token)

    def by_google(self, req: NativeSignIn) -> Callable[[], VerifiedIdentity]:
        if req.google_authcode and req.google_access_token:
            raise errors.BadParameter("google_authcode: without google_access_token.")
        if req.google_authcode:
            return self._code_request(req.google_authcode, req)
        return self._access_token_request("google_access_token", req.google_access_token)

    def by_foursquare(self, req: NativeSignIn) -> Callable[[], VerifiedIdentity]:
        """Redeem the code of the SDK. An access token is refused: Foursquare does not tell which app it was issued to."""
        if req.code:
            return self._code_request(req.code, req)
        if not req.fs_access_token:
            raise errors.ProviderTokenMissing("The fs_access_token is a required parameter, or code in place of it.")
        raise errors.ConnectionNotConfigured(
            "Foursquare does not tell which app an access token was issued to. Send the code of its SDK as code."
        )

    def by_twitter(self, req: NativeSignIn) -> Callable[[], VerifiedIdentity]:
        if not req.tw_access_token:
            raise errors.ProviderTokenMissing("The tw_access_token is a required parameter.")
        if not req.tw_token_secret:
            raise errors.ProviderTokenSecretMissing("The tw_token_secret is a required parameter.")
        token = req.tw_access_token, req.tw_token_secret
        return lambda: self._read_twitter(token)

    def _access_token_request(self, parameter: str, access_token: str | None) -> Callable[[], VerifiedIdentity]:
        if not access_token:
            raise errors.ProviderTokenMissing(f"The {parameter} is a required parameter.")
        if not self.settings.introspection_endpoint:
            raise errors.ConnectionNotConfigured("The connection has no introspection_endpoint.")
        text = access_token
        return lambda: self._read_profile(text)

    def _code_request(self, code: str | None, req: NativeSignIn) -> Callable[[], VerifiedIdentity]:
        if not code:
            raise errors.BadParameter.names("code")
        redirect_uri = req.redirect_uri or ""
        if redirect_uri and not allowed_urls.is_allowed(self.context, redirect_uri):
            raise errors.BadParameter("redirect_uri: an address of the whitelist.")
        return lambda: self._redeem_code(code, redirect_uri)

    def _redeem_code(self, code: str, redirect_uri: str) -> VerifiedIdentity:
        return self._verified(*self.provider().redeem_code(code, redirect_uri, self.context.now))

    def _redeem_refresh_token(self, text: str) -> VerifiedIdentity:
        provider = self.provider()
        if not isinstance(provider, OpenIdProvider):
            raise ProfileUnsupported
        return self._verified(provider.redeem_refresh_token(text, self.context.now))

    def _read_twitter(self, token: tuple[str, str]) -> VerifiedIdentity:
        from app.identity.authentication.federation.providers import twitter  # noqa: PLC0415 - for X only

        resolver, now = self.context.services.provider_metadata.resolver, self.context.now
        consumer = provider_clients.consumer(self.context, self.name, self.settings)
        with checking(ConnectionCheck.USERINFO, consumer[1], *token):
            return self._verified(twitter.read_identity(resolver, self.name, self.settings, consumer, token, now))

    def _read_profile(self, access_token: str) -> VerifiedIdentity:
        provider, resolver = self.provider(), self.context.services.provider_metadata.resolver
        subject = provider_introspection.issued_subject(
            resolver, self.kind, self.settings, provider.secret, access_token
        )
        identity = provider.read_identity(access_token)
        if subject is not None and identity.subject != subject:
            text = "the profile is about another subject"
            raise ProviderUnavailable(text, check=ConnectionCheck.USERINFO, expected="the subject of the token")
        return self._verified(identity, ProviderTokens(access_token))

    def _verify_id_token(self, text: str) -> VerifiedIdentity:
        provider, now = self.provider(), self.context.now
        if isinstance(provider, OpenIdProvider):
            issuer, keys = provider.id_token_keys()
        else:
            issuer, keys = self.settings.id_token_issuer or "", self._keys
        is_google = self.kind == "google"
        expected = ExpectedIdToken(issuer, self.settings.key, now, is_with_access_token=False, has_any_party=is_google)
        claims = id_tokens.verify(text, keys, expected)
        identity = (
            provider.identity_of(claims)
            if isinstance(provider, OpenIdProvider)
            else identity_from_claims(self.name, STANDARD_CLAIMS, claims)
        )
        return _with_id_token(self.context, self._verified(identity), text, claims["exp"] + SKEW_SECONDS)

    def _keys(self, kid: str | None) -> tuple[Key, ...]:
        return self.context.services.provider_metadata.keys(self.settings.jwks_endpoint or "", kid)

    def _verified(self, identity: ProviderIdentity, tokens: ProviderTokens | None = None) -> VerifiedIdentity:
        return VerifiedIdentity(identity, bool(self.settings.trusts_email) and identity.gives_email, tokens)


_REQUESTS: Final[Mapping[str, Callable[[_Client, NativeSignIn], Callable[[], VerifiedIdentity]]]] = {
    "googlejwt": _Client.by_id_token, "facebookjwt": _Client.by_id_token, "applejwt": _Client.by_id_token,
    "applert": _Client.by_refresh_token, "apple": _Client.by_code, "wechat": _Client.by_code, "qq": _Client.by_code,
    "facebook": _Client.by_facebook, "linkedin": _Client.by_linkedin, "google": _Client.by_google,
    "foursquare": _Client.by_foursquare, "twitter": _Client.by_twitter,
}  # fmt: skip


def _sender(context: Context, req: NativeSignIn) -> _CredentialSender:
    if not req.provider_name:
        raise errors.BadParameter.names("providername")
    return _CredentialSender(context, jwt_providers.find(context, req.provider_name))


def _client(context: Context, kind: Kind, req: NativeSignIn) -> _Client:
    """Return the tenant's client at a provider: at the connection `socialappname`, else at the only one or the one of its name."""
    configured = {
        name: native_settings(name, connection)
        for name, connection in context.tenant.settings.connections.items()
        if can_sign_in(name, connection)
    }
    connection_names = [name for name, item in configured.items() if kind_of(name, item) == kind]
    if req.social_app_name:
        connection_names = [name for name in connection_names if name == req.social_app_name.strip().lower()]
    elif kind in connection_names:
        connection_names = [kind]
    if not connection_names:
        raise errors.ConnectionNotConfigured
    if len(connection_names) > 1:
        raise errors.BadParameter("socialappname: the name of one of the connections to this provider.")
    return _Client(context, kind, connection_names[0], _as_app(kind, configured[connection_names[0]]))


def _as_app(kind: Kind, settings: ConnectionSettings) -> ConnectionSettings:
    """Return the settings of the provider's client for apps."""
    apple = settings.apple
    key = apple.bundle_id if kind == "apple" and apple is not None and apple.bundle_id else settings.key
    return settings.model_copy(update={"key": key, "preset": kind})


def _with_id_token(context: Context, verified: VerifiedIdentity, text: str, valid_until: float) -> VerifiedIdentity:
    """Return a proof that is used once. Raises IdTokenRefused for a token that is valid for too long."""
    if valid_until > (context.now + _MAX_LIFETIME).timestamp():
        text = "the id_token is valid for more than a day"
        raise IdTokenRefused(text, check=ConnectionCheck.EXP, expected="exp: at most a day from now")
    signed_part = text.rpartition(".")[0]  # the signature may be written in more than one form
    return VerifiedIdentity(verified.identity, verified.trusts_email, verified.tokens, signed_part, valid_until)
