"""The tenant's JWT custom providers: senders of signed JWTs whose subject signs in."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import Any, Final

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OctKey, OKPKey, RSAKey

from app.contract import errors
from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.connections import MEMBERS, STANDARD_CLAIMS
from app.contract.jwt import jwt_operations
from app.contract.jwt.jwt_operations import JwtProvider
from app.identity.authentication.federation.providers import id_tokens
from app.identity.authentication.federation.providers.id_tokens import IdTokenRefused
from app.identity.directory.identity_provider import JWT_PREFIX, ProviderIdentity, identity_from_claims
from app.identity.platform import jwts
from app.identity.platform.context import Context
from app.identity.platform.jwts import JwtNotAccepted, JwtProfile, Keys, is_time
from app.identity.platform.outbound.findings import UpstreamRefusal
from app.identity.platform.outbound.openid_metadata import PARSE_ERRORS
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.resource_store import items_of

log = logging.getLogger("gatehouse.identity")

ANY_PROVIDER: Final = "jwttoken"
"""The parameter in which every provider may send its token."""
_MAX_TRIED: Final = 5
_KEY_TYPES: Final[Mapping[str, type[OctKey] | type[RSAKey] | type[ECKey] | type[OKPKey]]] = {
    "HS": OctKey, "RS": RSAKey, "PS": RSAKey, "ES": ECKey, "Ed": OKPKey,
}  # fmt: skip
"""By the first letters of the algorithm."""
WITHOUT_END: Final = timedelta(days=1)
"""How long after its `iat` a token without `exp` is valid, where the provider may leave it out."""
FILLABLE: Final = {**{member: key for key, member in MEMBERS.items()}, "ID": "subject", "Email": "email"}
"""The claim of `names` that each profile field of a mapping fills."""


class SubjectMissing(UpstreamRefusal):
    """The token is valid and names no account."""


@dataclass(frozen=True)
class JwtSender:
    """A JWT custom provider with its key."""

    provider: JwtProvider
    key: str = field(repr=False)

    @property
    def name(self) -> str:
        """The provider of its identities."""
        return identity_provider_name(self.provider.app_name)

    @property
    def claims(self) -> Mapping[str, str]:
        """The claims that the mapping names. A mapping stored by an earlier version may have fields that no token fills."""
        return {FILLABLE[member]: claim for claim, member in self.provider.mapping.items() if member in FILLABLE}

    @property
    def names(self) -> Mapping[str, str]:
        """The name of each claim: OpenID Connect's, unless the mapping has another."""
        return {**STANDARD_CLAIMS, **self.claims}


def identity_provider_name(app_name: str) -> str:
    """Return the provider of the identities of a JWT provider."""
    return f"{JWT_PREFIX}{app_name.lower()}"


def has_login_page(item: Item) -> bool:
    """Return whether a stored JWT provider is active and has a page where people sign in."""
    return bool(item.content.get("is_active", True) and item.content.get("login_url"))


def listed(context: Context) -> list[JwtSender]:
    """Return the providers with a login page that pages list, by name."""
    items = items_of(context, jwt_operations.PROVIDERS).values()
    found = [_sender(item) for item in items if has_login_page(item) and item.content.get("list_in_interface", True)]
    return sorted(found, key=lambda sender: sender.name)


def _sender(item: Item) -> JwtSender:
    provider = JwtProvider.model_validate({**item.content, "app_name": item.name})
    return JwtSender(provider, item.secrets.get("key", ""))


def find(context: Context, name: str) -> JwtSender:
    """Return an active provider by its name, in any letter case. Raises ConnectionNotConfigured.

    Identities do not tell letter cases apart, so of two providers that differ only in case neither is found.
    """
    matching = [
        item
        for (key,), item in items_of(context, jwt_operations.PROVIDERS).items()
        if key.lower() == name.strip().lower()
    ]
    if len(matching) != 1:
        raise errors.ConnectionNotConfigured
    sender = _sender(matching[0])
    if not sender.provider.is_active:
        raise errors.ConnectionNotConfigured
    return sender


def active_names(context: Context) -> tuple[str, ...]:
    """Return the providers of identities that can sign in now."""
    items = items_of(context, jwt_operations.PROVIDERS).values()
    return tuple(identity_provider_name(item.name) for item in items if item.content.get("is_active", True))


def named_by(context: Context, parameters: Mapping[str, str], bearer: str | None) -> list[tuple[JwtSender, str]]:
    """Return the active providers whose parameter a request has, each with its token: `jwttoken` is every provider's.

    A token comes in the Authorization header where the provider is set up so. `provider` limits them to one by its name.
    """
    requested, matching = parameters.get("provider", "").lower(), []
    items = list(items_of(context, jwt_operations.PROVIDERS).values())
    names = Counter(item.name.lower() for item in items)
    for item in (element for element in items if names[element.name.lower()] == 1):
        sender = _sender(item)
        provider = sender.provider
        own = bearer if provider.use_authorization_header else None
        text = parameters.get(provider.token_query_parameter_name.lower()) or parameters.get(ANY_PROVIDER) or own
        if provider.is_active and text and requested in ("", provider.app_name.lower()):
            matching.append((sender, text))
    return matching[:_MAX_TRIED]


@lru_cache(maxsize=1_000)
def _warn_once(tenant: str, warning: str) -> None:
    """Once per process and provider, because each token would repeat it."""
    log.warning("tenant %s: %s", tenant, warning)


def verify(context: Context, sender: JwtSender, text: str) -> tuple[ProviderIdentity, float]:
    """Return the identity of a token, and the time in seconds since 1970 until which the token is valid.

    The algorithm is the provider's, so that a public key never verifies as a secret.

    Raises:
        IdTokenRefused: the signature or a claim is wrong.
        SubjectMissing.
        ProviderUnavailable: the provider's key set cannot be fetched.
    """
    provider, at = sender.provider, context.now.timestamp()
    if warning := jwt_operations.warning_of(provider):
        _warn_once(context.tenant.name, warning)
    profile = JwtProfile((provider.algo,), id_tokens.MAX_LENGTH)
    try:
        claims = dict(jwts.read_jwt(text, _keys(context, sender), profile).claims)
    except JwtNotAccepted as refusal:
        raise IdTokenRefused(f"the JWT is not good: {refusal}", **refusal.texts) from None
    latest_start, ends_at = at + provider.clock_skew, _end(provider, claims)
    nbf: Any = claims.get("nbf")
    iat: Any = claims.get("iat")
    checks = {
        "iss": _matches(provider.issuer, [provider.issuer.expected_value], claims.get("iss")),
        "aud": _matches(provider.audience, provider.audience.expected_values, claims.get("aud")),
        "nbf": (is_time(nbf) and nbf <= latest_start) or (nbf is None and not provider.not_before.is_mandatory),
        "iat": iat is None or (is_time(iat) and iat <= latest_start),
        "exp": at < ends_at,
    }
    if wrong := [name for name, is_good in checks.items() if not is_good]:
        values = {"iss": provider.issuer.expected_value, "aud": provider.audience.expected_values}
        finding = id_tokens.claim_finding(wrong[0], claims, context.now, values)
        raise IdTokenRefused(f"the JWT is not good: {', '.join(wrong)}", **finding)
    if provider.subject.is_mandatory and not isinstance(claims.get("sub"), str):
        raise SubjectMissing("the JWT has no sub", **id_tokens.claim_finding("sub", claims, context.now, {}))
    try:
        return identity_from_claims(sender.name, sender.names, claims), ends_at
    except ProviderUnavailable as refusal:
        raise SubjectMissing(str(refusal), **refusal.texts) from None


def trusts_email(sender: JwtSender, identity: ProviderIdentity) -> bool:
    """Return whether the provider's claim verifies an address: only in the email domain that the tenant set for it."""
    domain = (identity.email or "").rpartition("@")[2].lower()
    return bool(domain) and domain == sender.provider.domain


@dataclass(frozen=True)
class AccountUpdate:
    """What a JWT provider changes in the account of an identity."""

    email: str | None  # the new primary address; None: it stays
    profile: dict[str, str]  # new values by the names of the fields


def account_update(context: Context, identity: ProviderIdentity) -> AccountUpdate | None:
    """Return what a sign-in by an identity of a JWT provider changes; None for a provider that is off.

    Only a verified address of the provider's own domain counts, as when an address selects the account.
    """
    try:
        sender = find(context, identity.provider.removeprefix(JWT_PREFIX))
    except errors.ConnectionNotConfigured:
        return None
    provider = sender.provider
    decides = provider.update_email_profile and identity.email_verified and trusts_email(sender, identity)
    profile = {name: text for name, text in identity.profile.items() if name in provider.raas_update_fields and text}
    return AccountUpdate(identity.email if decides else None, profile)


def _end(provider: JwtProvider, claims: Mapping[str, Any]) -> float:
    """Return the expiry of a token in seconds since 1970; 0 if it lacks the required claim."""
    exp: Any = claims.get("exp")
    iat: Any = claims.get("iat")
    if exp is None and is_time(iat) and not provider.expiration.is_mandatory:
        return float(iat) + WITHOUT_END.total_seconds()
    return float(exp) + provider.clock_skew + provider.expiration_time_difference if is_time(exp) else 0


def _matches(
    expected: jwt_operations.Expected | jwt_operations.ExpectedOneOf,
    values: list[str | None] | list[str],
    claim: Any,
) -> bool:
    """Return whether a claim has the value that the provider's configuration expects."""
    if claim is None:
        return not expected.is_mandatory
    named = claim if isinstance(claim, list) else [claim]
    return not expected.match_value or any(item in values for item in named if isinstance(item, str))


def _keys(context: Context, sender: JwtSender) -> Keys:
    """Return the look-up of the provider's keys. Raises IdTokenRefused for a key that cannot be read."""
    algorithm, address = sender.provider.algo, sender.provider.jwks_url
    if address and not algorithm.startswith("HS"):
        return lambda kid: context.services.provider_metadata.keys(address, kid)
    key_type = _KEY_TYPES[algorithm[:2]]
    if not sender.key:
        text = "the JWT custom provider has no key"
        raise IdTokenRefused(text, check=ConnectionCheck.CONFIGURATION, expected=f"a key for {algorithm}")
    try:
        key: Key = key_type.import_key(sender.key)
    except (JoseError, *PARSE_ERRORS):
        text = "the key of the JWT custom provider cannot be read"
        raise IdTokenRefused(text, check=ConnectionCheck.CONFIGURATION, expected=f"a key for {algorithm}") from None
    return lambda _kid: (key,)
