"""OpenID provider metadata and keys (OpenID Connect Discovery section 4), cached for all tenants of the process."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key

from app.contract.connections import is_local, is_provider_address
from app.identity.platform import outbound
from app.identity.platform.outbound import ProviderUnavailable
from app.kit.clock import Clock
from app.kit.lru_cache import LruCache
from app.kit.public_addresses import Resolver

LIFETIME: Final = timedelta(hours=1)
REFRESH_INTERVAL: Final = timedelta(minutes=1)
_MOST_PROVIDERS: Final = 1_000
_MOST_KEYS: Final = 50
_KINDS_OF_KEYS: Final = ("RSA", "EC", "OKP")  # none whose secret a provider would have to publish
_METHODS: Final = ("client_secret_basic", "client_secret_post")
PARSE_ERRORS: Final = (ValueError, TypeError, ArithmeticError, RecursionError)
"""What reading a stranger's JSON may raise: numbers without end and lists in lists without end are JSON to some."""


@dataclass(frozen=True)
class Endpoints:
    """Where a client of ours sends people, and exchanges what they bring back."""

    authorization: str
    token: str
    auth_method: str


@dataclass(frozen=True)
class ProviderMetadata:
    """What a provider says of itself."""

    endpoints: Endpoints
    userinfo: str
    jwks: str
    sends_issuer: bool
    read_at: datetime


@dataclass(frozen=True)
class _Keys:
    keys: tuple[Key, ...]
    read_at: datetime


class ProviderMetadataCache:
    """What providers say of themselves and their keys, kept for a while for all tenants of the process."""

    def __init__(self, clock: Clock, resolver: Resolver) -> None:
        self._clock = clock
        self.resolver = resolver
        self._metadata: LruCache[str, ProviderMetadata] = LruCache(_MOST_PROVIDERS)
        self._keys: LruCache[str, _Keys] = LruCache(_MOST_PROVIDERS)

    def metadata(self, issuer: str) -> ProviderMetadata:
        """Return the configuration of an issuer. Raises ProviderUnavailable."""
        held, now = self._metadata.get(issuer), self._clock.now()
        if held is None or not held.read_at <= now < held.read_at + LIFETIME:
            held = _fetch(self.resolver, issuer, now)
            self._metadata.put(issuer, held)
        return held

    def keys(self, address: str, kid: str | None) -> tuple[Key, ...]:
        """Return the keys that may have signed: those of that name, or all where a token names none.

        An unknown name has the keys read anew, once a minute at most. Raises ProviderUnavailable.
        """
        held, now = self._keys.get(address), self._clock.now()
        if held is None or not held.read_at <= now < held.read_at + LIFETIME:
            held = self._read_keys(address, now)
        found = _named(held.keys, kid)
        if not found and now >= held.read_at + REFRESH_INTERVAL:
            found = _named(self._read_keys(address, now).keys, kid)
        return found

    def _read_keys(self, address: str, now: datetime) -> _Keys:
        held = _Keys(_imported(outbound.get_json_object(self.resolver, address).get("keys")), now)
        self._keys.put(address, held)
        return held


def _fetch(resolver: Resolver, issuer: str, now: datetime) -> ProviderMetadata:
    said = outbound.get_json_object(resolver, f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if said.get("issuer") != issuer:
        raise ProviderUnavailable("its configuration is another issuer's")
    places = {name: said.get(name) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
    userinfo = said.get("userinfo_endpoint") or ""
    for name, place in {**places, **({"userinfo_endpoint": userinfo} if userinfo else {})}.items():
        if not isinstance(place, str) or not is_allowed_endpoint(issuer, place):
            raise ProviderUnavailable(f"its configuration has no {name} that can be asked")
    listed = said.get("token_endpoint_auth_methods_supported")
    methods = listed if isinstance(listed, list) else _METHODS
    endpoints = Endpoints(
        str(places["authorization_endpoint"]),
        str(places["token_endpoint"]),
        next((one for one in _METHODS if one in methods), _METHODS[0]),
    )
    sends_issuer = said.get("authorization_response_iss_parameter_supported") is True
    return ProviderMetadata(endpoints, str(userinfo), str(places["jwks_uri"]), sends_issuer, now)


def is_allowed_endpoint(issuer: str, place: str) -> bool:
    """Return whether an issuer may lead us to a place: not to this machine, unless it is on it, nor to a number, which may be
    any machine behind our walls. Its own host it may always name."""
    host = urlsplit(place).hostname if is_provider_address(place) else None
    if host is None:
        return False
    is_named = not host.endswith(".") and host.rpartition(".")[2][:1].isalpha()
    return is_local(issuer) or host == urlsplit(issuer).hostname or (is_named and not is_local(place))


def _imported(listed: Any) -> tuple[Key, ...]:
    """Return the keys that can verify a signature; what is none, or is secret, is passed over."""
    keys = []
    for one in listed[:_MOST_KEYS] if isinstance(listed, list) else ():
        if not isinstance(one, dict) or one.get("use", "sig") != "sig" or one.get("kty") not in _KINDS_OF_KEYS:
            continue
        try:
            keys.append(JWKRegistry.import_key(one))
        except (JoseError, KeyError, *PARSE_ERRORS):
            continue
    if not keys:
        raise ProviderUnavailable("it publishes no key")
    return tuple(keys)


def _named(keys: tuple[Key, ...], kid: str | None) -> tuple[Key, ...]:
    return keys if kid is None else tuple(key for key in keys if key.kid == kid)
