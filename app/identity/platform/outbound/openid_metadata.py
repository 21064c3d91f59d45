"""Fetches and caches OpenID provider metadata and keys (OpenID Connect Discovery section 4) for all tenants of the process."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key

from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.connections import is_local, is_provider_url
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.findings import FindingTexts, checking, kind_of_value
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.caching.lru_cache import LruCache
from app.kit.clock import Clock
from app.kit.outbound.host_resolver import Resolver

LIFETIME: Final = timedelta(hours=1)
REFRESH_INTERVAL: Final = timedelta(minutes=1)
FAILURE_INTERVAL: Final = timedelta(seconds=5)
_MAX_PROVIDERS: Final = 1_000
_MAX_KEYS: Final = 50
_KEY_TYPES: Final = ("RSA", "EC", "OKP")  # asymmetric keys only
DIRECTORY: Final = "{tenantid}"
"""The place of a directory's ID in the issuer of Microsoft's accounts of many directories."""
_MANY_DIRECTORIES: Final = ("common", "organizations")  # in place of a directory in Microsoft's issuers
_AUTH_METHODS: Final = ("client_secret_basic", "client_secret_post")
PARSE_ERRORS: Final = (ValueError, TypeError, ArithmeticError, RecursionError)
"""Exceptions that untrusted JSON can cause while it is parsed: huge numbers, deep nesting."""


@dataclass(frozen=True)
class Endpoints:
    """The authorization and token endpoint of a provider."""

    authorization: str
    token: str
    auth_method: str


@dataclass(frozen=True)
class ProviderMetadata:
    """A provider's discovery document. `issuer` is that of ID tokens: with `{tenantid}` where each directory has its own."""

    issuer: str
    endpoints: Endpoints
    userinfo: str
    jwks: str
    sends_issuer: bool
    read_at: datetime


@dataclass(frozen=True)
class _Keys:
    keys: tuple[Key, ...]
    read_at: datetime


@dataclass(frozen=True)
class _Failure:
    """Why keys could not be read."""

    text: str
    finding: FindingTexts
    at: datetime


class _KeyCache:
    """Caches key sets; those of untrusted addresses have one of their own, which they alone can fill."""

    def __init__(self, resolver: Resolver, *, is_untrusted: bool) -> None:
        self._resolver = resolver
        self._is_untrusted = is_untrusted
        self._keys: LruCache[str, _Keys] = LruCache(_MAX_PROVIDERS)
        self._refetched_at: LruCache[str, datetime] = LruCache(_MAX_PROVIDERS)
        self._failed: LruCache[str, _Failure] = LruCache(_MAX_PROVIDERS)

    def keys(self, address: str, kid: str | None, now: datetime) -> tuple[Key, ...]:
        cached = self._keys.get(address)
        if cached is None or not cached.read_at <= now < cached.read_at + LIFETIME:
            cached = self._fetch_keys(address, now)
        matching = with_id(cached.keys, kid)
        if not matching and self._may_refetch(address, cached.read_at, now):
            matching = with_id(self._fetch_keys(address, now).keys, kid)
        return matching

    def _may_refetch(self, address: str, read_at: datetime, now: datetime) -> bool:
        """Return whether an unknown id may cause a fetch, and count it before it begins, so that others do not wait for it too."""
        last_refetch = self._refetched_at.get(address)
        if (
            abs(now - max(read_at, last_refetch or read_at)) < REFRESH_INTERVAL
        ):  # one of the future was before the clock was put back
            return False
        self._refetched_at.put(address, now)
        return True

    def _fetch_keys(self, address: str, now: datetime) -> _Keys:
        failed = self._failed.get(address)
        if failed is not None and failed.at <= now < failed.at + FAILURE_INTERVAL:
            raise ProviderUnavailable(f"a moment ago: {failed.text}", **failed.finding)
        try:
            with checking(ConnectionCheck.KEYS):
                jwks = outbound_http.get_json_object(self._resolver, address, is_untrusted=self._is_untrusted)
                fetched = _Keys(import_keys(jwks.get("keys")), now)
        except ProviderUnavailable as failure:
            self._failed.put(address, _Failure(str(failure), failure.texts, now))
            raise
        self._keys.put(address, fetched)
        return fetched


class ProviderMetadataCache:
    """Caches discovery documents and key sets of providers, and key sets of applications that registered themselves."""

    def __init__(self, clock: Clock, resolver: Resolver) -> None:
        self._clock = clock
        self.resolver = resolver
        self._metadata: LruCache[str, ProviderMetadata] = LruCache(_MAX_PROVIDERS)
        self._keys = _KeyCache(resolver, is_untrusted=False)
        self._untrusted_keys = _KeyCache(resolver, is_untrusted=True)

    def metadata(self, issuer: str) -> ProviderMetadata:
        """Return the metadata of an issuer. Raises ProviderUnavailable."""
        cached, now = self._metadata.get(issuer), self._clock.now()
        if cached is None or not cached.read_at <= now < cached.read_at + LIFETIME:
            with checking(ConnectionCheck.DISCOVERY):
                cached = _fetch(self.resolver, issuer, now)
            self._metadata.put(issuer, cached)
        return cached

    def keys(self, address: str, kid: str | None, *, is_untrusted: bool = False) -> tuple[Key, ...]:
        """Return the keys with this id, or all keys if the token names none.

        An unknown id causes a new fetch, at most once a minute, whatever comes of it. An address that did not answer is asked
        again after some seconds. `is_untrusted`: whether anyone can name the address. Raises ProviderUnavailable.
        """
        cache = self._untrusted_keys if is_untrusted else self._keys
        return cache.keys(address, kid, self._clock.now())


def _fetch(resolver: Resolver, issuer: str, now: datetime) -> ProviderMetadata:
    document = outbound_http.get_json_object(resolver, f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    named = document.get("issuer")
    if named != issuer and not _is_template(named, issuer):
        raise ProviderUnavailable("its configuration is another issuer's", expected=f"issuer {issuer}", received=named)
    urls = {name: document.get(name) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
    userinfo = document.get("userinfo_endpoint") or ""
    for name, url in {**urls, **({"userinfo_endpoint": userinfo} if userinfo else {})}.items():
        if not isinstance(url, str) or not is_allowed_endpoint(issuer, url):
            text = f"its configuration has no {name} that can be asked"
            raise ProviderUnavailable(text, expected=f"{name}: a public https address", received=url)
    supported = document.get("token_endpoint_auth_methods_supported")
    methods = supported if isinstance(supported, list) else _AUTH_METHODS
    endpoints = Endpoints(
        str(urls["authorization_endpoint"]),
        str(urls["token_endpoint"]),
        next((method for method in _AUTH_METHODS if method in methods), _AUTH_METHODS[0]),
    )
    sends_issuer = document.get("authorization_response_iss_parameter_supported") is True
    return ProviderMetadata(str(named), endpoints, str(userinfo), str(urls["jwks_uri"]), sends_issuer, now)


def _is_template(named: Any, issuer: str) -> bool:
    """Return whether a document is that of Microsoft's accounts of many directories, whose issuer has the directory's place."""
    is_text = isinstance(named, str) and DIRECTORY in named
    return is_text and any(named.replace(DIRECTORY, part) == issuer for part in _MANY_DIRECTORIES)


def is_of_many_directories(issuer: str) -> bool:
    """Return whether an issuer is Microsoft's for the accounts of many directories, each of which has administrators of its own."""
    return issuer.rstrip("/").endswith(tuple(f"/{part}/v2.0" for part in _MANY_DIRECTORIES))


def is_allowed_endpoint(issuer: str, url: str) -> bool:
    """Return whether an issuer may name this endpoint: a host name that is not local, unless the issuer is local too.

    IP addresses are refused, because they may belong to our internal network. The issuer's own host is always allowed.
    """
    host = urlsplit(url).hostname if is_provider_url(url) else None
    if host is None:
        return False
    is_name = not host.endswith(".") and host.rpartition(".")[2][:1].isalpha()
    return is_local(issuer) or host == urlsplit(issuer).hostname or (is_name and not is_local(url))


def import_keys(jwks: Any) -> tuple[Key, ...]:
    """Return the public signature keys of a JWKS and skip everything else. Raises ProviderUnavailable if none is left."""
    keys = []
    for key in jwks[:_MAX_KEYS] if isinstance(jwks, list) else ():
        if not isinstance(key, dict) or key.get("use", "sig") != "sig" or key.get("kty") not in _KEY_TYPES:
            continue
        try:
            keys.append(JWKRegistry.import_key(key))
        except (JoseError, KeyError, *PARSE_ERRORS):
            continue
    if not keys:
        received = f"keys: {kind_of_value(jwks)}, without one that can be used"
        raise ProviderUnavailable(
            "it publishes no key",
            expected="keys: a list with an RSA, EC or Ed25519 key for signatures",
            received=received,
        )
    return tuple(keys)


def with_id(keys: tuple[Key, ...], kid: str | None) -> tuple[Key, ...]:
    """Return the keys with this id, or all keys for None."""
    return keys if kid is None else tuple(key for key in keys if key.kid == kid)
