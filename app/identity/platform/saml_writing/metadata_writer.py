"""Writes the metadata of this service in either role (SAML V2.0 Metadata, sections 2.3 and 2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.identity.platform.saml.encrypted_assertions import RECOMMENDED
from app.identity.platform.saml.metadata_reader import SamlEndpoint
from app.identity.platform.saml.saml_names import PROTOCOL, alg, ds, md
from app.identity.platform.saml.trusted_keys import DIGESTS, SIGNATURES
from app.identity.platform.saml_writing.xml_builder import element, new_id, to_bytes
from app.identity.platform.saml_writing.xml_signing import SigningKey, signed

if TYPE_CHECKING:
    from lxml.etree import _Element

_PEM_FRAME: Final = "-----"
_CACHE_DURATION: Final = "PT6H"
"""How long a peer may go without reading it again. There is no `validUntil`: a peer that keeps a file would stop working on that day."""


@dataclass(frozen=True, kw_only=True)
class RoleMetadata:
    """What this service publishes of itself in one role."""

    entity_id: str
    services: Sequence[SamlEndpoint]
    """Single sign-on services of a provider, assertion consumer services of a service provider."""
    logout_services: Sequence[SamlEndpoint] = ()
    signing_certificates: Sequence[str] = ()
    """In PEM; the next one is published ahead, so that peers know it when it signs."""
    encryption_certificates: Sequence[str] = ()
    name_id_formats: Sequence[str] = ()
    wants_signed_requests: bool = False
    wants_signed_assertions: bool = False


def provider_metadata(role: RoleMetadata, key: SigningKey | None = None) -> bytes:
    """Return the metadata of the identity provider, signed if there is a key."""
    descriptor = element(
        md("IDPSSODescriptor"),
        _algorithms(),
        *_keys(role),
        *_endpoints("SingleLogoutService", role.logout_services),
        *_name_id_formats(role),
        *_endpoints("SingleSignOnService", role.services),
        WantAuthnRequestsSigned=_boolean(value=role.wants_signed_requests),
        protocolSupportEnumeration=PROTOCOL,
    )
    return _entity(role, descriptor, key)


def service_provider_metadata(role: RoleMetadata, key: SigningKey | None = None) -> bytes:
    """Return the metadata of the service provider, which signs its requests, signed if there is a key."""
    consumers = _endpoints("AssertionConsumerService", role.services)
    for index, (consumer, endpoint) in enumerate(zip(consumers, role.services, strict=True)):
        consumer.set("index", str(index))
        if endpoint.is_default:
            consumer.set("isDefault", "true")
    descriptor = element(
        md("SPSSODescriptor"),
        _algorithms(),
        *_keys(role),
        *_endpoints("SingleLogoutService", role.logout_services),
        *_name_id_formats(role),
        *consumers,
        AuthnRequestsSigned=_boolean(value=bool(role.signing_certificates)),
        WantAssertionsSigned=_boolean(value=role.wants_signed_assertions),
        protocolSupportEnumeration=PROTOCOL,
    )
    return _entity(role, descriptor, key)


def _entity(role: RoleMetadata, descriptor: _Element, key: SigningKey | None) -> bytes:
    identifier = None if key is None else new_id()
    entity = element(
        md("EntityDescriptor"), descriptor, ID=identifier, cacheDuration=_CACHE_DURATION, entityID=role.entity_id
    )
    return to_bytes(entity if key is None else signed(entity, key))


def _algorithms() -> _Element:
    """Return what signatures may use: a peer that is not told may sign with SHA-1 (SAML V2.0 Algorithm Support, section 2.3)."""
    digests = [element(alg("DigestMethod"), Algorithm=one) for one in sorted(DIGESTS, key=_hash_name)]
    signatures = [element(alg("SigningMethod"), Algorithm=one) for one in SIGNATURES]
    return element(md("Extensions"), *digests, *signatures)


def _hash_name(algorithm: str) -> str:
    return algorithm.rpartition("#")[2]


def _keys(role: RoleMetadata) -> list[_Element]:
    signing = [_key(one, "signing") for one in role.signing_certificates]
    return [*signing, *(_key(one, "encryption", RECOMMENDED) for one in role.encryption_certificates)]


def _key(certificate: str, use: str, algorithms: Sequence[str] = ()) -> _Element:
    """Return a key. A provider that is not told what it encrypts with may use AES-CBC, which is refused."""
    methods = [element(md("EncryptionMethod"), Algorithm=one) for one in algorithms]
    return element(md("KeyDescriptor"), _key_info(certificate), *methods, use=use)


def _key_info(certificate: str) -> _Element:
    bare = "".join(line for line in certificate.split("\n") if not line.startswith(_PEM_FRAME)).strip()
    return element(ds("KeyInfo"), element(ds("X509Data"), element(ds("X509Certificate"), text=bare)))


def _endpoints(name: str, endpoints: Sequence[SamlEndpoint]) -> list[_Element]:
    return [
        element(md(name), Binding=one.binding, Location=one.location, ResponseLocation=one.response_location or None)
        for one in endpoints
    ]


def _name_id_formats(role: RoleMetadata) -> list[_Element]:
    return [element(md("NameIDFormat"), text=one) for one in role.name_id_formats]


def _boolean(*, value: bool) -> str:
    return "true" if value else "false"
