"""The rules of JWT clients and JWT custom providers, in addition to their declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from app.contract import errors
from app.contract.applications.claims_mapping import RESERVED
from app.contract.auth import READS_TOKENS
from app.contract.federation.connections import MEMBERS
from app.contract.jwt import jwt_operations
from app.contract.jwt.jwt_operations import AlgorithmList
from app.contract.profile import FIELDS, PROVIDER_TOKENS, Write
from app.contract.tenants.settings import TenantSettings
from app.identity.administration.applications import provider_domains
from app.identity.authentication.federation.jwt_providers import FILLABLE, identity_provider_name
from app.identity.directory.accounts import linked_identities
from app.identity.platform import private_keys
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL, Power
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.identity.platform.resource_storage.rules import Rules, may_lack_secrets
from app.kit.operations.wire import Wire

_UPDATABLE: Final = frozenset(name for name in MEMBERS.values() if FIELDS[name].write is Write.ANYONE)
"""The fields of the profile that `RaasUpdateFields` may name; `UpdateEmailProfile` decides about the address."""
_NOT_BELIEVED: Final = frozenset({"address", "updated_at", "iss", "aud", "exp", "nbf", "iat", "jti", "nonce"})
"""Reserved claims that identify no person and grant no rights, and the claims that the signer sets."""
_SOURCES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        **dict.fromkeys(RESERVED - _NOT_BELIEVED, frozenset[str]()),
        "sub": frozenset({"Uid", "ID", "Email", "PhoneId"}),
        "username": frozenset({"UserName"}),
        "roles": frozenset({"Roles"}),
        "email": frozenset({"Email"}),
        "email_verified": frozenset({"EmailVerified"}),
        "phone_number": frozenset({"PhoneId"}),
        "phone_number_verified": frozenset({"PhoneIdVerified"}),
    }
)
"""The claims by which applications identify and authorize a person, and the fields that an account cannot take from another."""
_WITH_TOKENS: Final = PROVIDER_TOKENS | {"Identities"}
_MIN_RSA_BITS: Final = 2_048
_CURVES: Final = {"ES256": "secp256r1", "ES384": "secp384r1", "ES512": "secp521r1"}


@jwt_operations.algorithms.implements
def list_algorithms(context: Context, req: Wire) -> AlgorithmList:  # noqa: ARG001 - the same for every tenant
    return AlgorithmList(data=list(jwt_operations.ALGORITHMS))


def name_unknown_fields(
    content: jwt_operations.JwtClient,
    settings: TenantSettings | None,  # noqa: ARG001 - the hook's signature
) -> Iterable[tuple[str, str]]:
    for claim, field in content.mapping.items():
        if field not in FIELDS:
            yield "mapping", f"a field of the profile for {claim[:60]}; found {field[:60]}"


def name_unfillable_fields(
    content: jwt_operations.JwtProvider,
    settings: TenantSettings | None,  # noqa: ARG001 - the hook's signature
) -> Iterable[tuple[str, str]]:
    """A claim of any other field, and a second one of the same field, would fill nothing."""
    for claim, field in content.mapping.items():
        if field not in FILLABLE:
            yield "mapping", f"a field that a token fills for {claim[:60]}, such as Email or ID; found {field[:60]}"
    if len(set(content.mapping.values())) < len(content.mapping):
        yield "mapping", "one claim for each field"
    if unknown := next((field for field in content.raas_update_fields if field not in _UPDATABLE), None):
        yield "raas_update_fields", f"fields of the profile that a token fills, such as FirstName; found {unknown[:60]}"


def powers_of_client(context: Context, item: Item) -> Iterable[Power]:  # noqa: ARG001 - the hook's signature
    """A program that fills these claims from another value, such as a field that people edit, is any person there, or has any role."""
    mapping, fixed = item.content.get("mapping", {}), item.content.get("metadata", {})
    if not _SOURCES.keys().isdisjoint(fixed) or any(
        claim in mapping and mapping[claim] not in sources for claim, sources in _SOURCES.items()
    ):
        yield Power(ALL, "JWT clients whose claims can name another person or give roles")
    if not _WITH_TOKENS.isdisjoint(mapping.values()):
        yield Power(READS_TOKENS, "JWT clients with the tokens of a provider")


def check_secret(context: Context, before: Item | None, after: Item) -> None:
    if before is None or _checked(before) != _checked(after):
        _refuse_wrong_key(context, after, "secret", "Secret", is_private=True)


def powers_of_provider(context: Context, item: Item) -> Iterable[Power]:
    """Who signs for a provider signs in as its accounts and as those of its domain; so does a token made for another service.

    A name in another letter case puts both providers out of use, so that it needs the powers of both.
    """
    stored = SHARED_TABLE.items(StoreAccess.of(context), jwt_operations.PROVIDERS)
    for element in [
        item,
        *(other for other in stored if other.name.lower() == item.name.lower() and other.id != item.id),
    ]:
        provider = jwt_operations.JwtProvider.model_validate({**element.content, "app_name": element.name})
        if provider.domain:
            yield Power(ALL, "JWT providers with a domain")
        if jwt_operations.warning_of(provider):
            yield Power(ALL, "JWT providers that don't check both iss and aud")
    if linked_identities.are_of(context.work, identity_provider_name(item.name)):
        yield Power(ALL, "providers that accounts are linked to")


def check_provider(context: Context, before: Item | None, after: Item) -> None:  # noqa: ARG001 - the hook's signature
    """Refuse a key that does not fit the algorithm, and a domain of another provider. Raises BadField, ProviderDomainExists."""
    provider_domains.refuse_taken(context, jwt_operations.PROVIDERS.file_key, after)
    is_fetched = bool(after.content.get("jwks_url")) and not str(after.content["algo"]).startswith("HS")
    if not is_fetched:
        _refuse_wrong_key(context, after, "key", "Key", is_private=False)


def warn_of_unchecked_claims(item: Item) -> Iterable[str]:
    provider = jwt_operations.JwtProvider.model_validate({**item.content, "app_name": item.name})
    if warning := jwt_operations.warning_of(provider):
        yield warning


def _checked(item: Item) -> tuple[object, object]:
    return item.content["algo"], item.secrets.get("secret")


def _refuse_wrong_key(context: Context, item: Item, name: str, shown: str, *, is_private: bool) -> None:
    """Refuse a key that does not fit the algorithm (RFC 7518 sections 3.2 to 3.4). Raises BadField."""
    algorithm, key = str(item.content["algo"]), item.secrets.get(name, "")
    if name not in item.secrets and may_lack_secrets(context):
        return
    if algorithm.startswith("HS"):
        least = int(algorithm[2:]) // 8
        if len(key.encode()) < least:
            raise errors.BadField(f"{shown}: at least {least} bytes for {algorithm} (RFC 7518).")
        return
    try:
        loaded = private_keys.validated(key) if is_private else load_pem_public_key(key.encode())
    except private_keys.UnusableKey as problem:
        raise errors.BadField(f"{shown}: {problem}, for {algorithm}.") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise errors.BadField(f"{shown}: a public key for {algorithm} in PEM.") from None
    if expected := _wrong_kind(loaded, algorithm):
        raise errors.BadField(f"{shown}: {expected}.")


def _wrong_kind(key: object, algorithm: str) -> str:
    """Return the kind of key that the algorithm needs; empty if it is of that kind."""
    if algorithm == "EdDSA":
        return "" if isinstance(key, ed25519.Ed25519PublicKey) else f"an Ed25519 key for {algorithm} (RFC 8037)"
    if algorithm.startswith(("RS", "PS")):
        is_fit = isinstance(key, rsa.RSAPrivateKey | rsa.RSAPublicKey) and key.key_size >= _MIN_RSA_BITS
        return "" if is_fit else f"an RSA key of {_MIN_RSA_BITS} bits or more for {algorithm} (RFC 7518)"
    curve = _CURVES[algorithm]
    is_fit = isinstance(key, ec.EllipticCurvePrivateKey | ec.EllipticCurvePublicKey) and key.curve.name == curve
    return "" if is_fit else f"a key of the curve {curve} for {algorithm} (RFC 7518)"


RULES: Final = {
    jwt_operations.CLIENTS: Rules(problems=name_unknown_fields, powers=powers_of_client, before_write=check_secret),
    jwt_operations.PROVIDERS: Rules(
        problems=name_unfillable_fields,
        warnings=warn_of_unchecked_claims,
        powers=powers_of_provider,
        before_write=check_provider,
    ),
}
