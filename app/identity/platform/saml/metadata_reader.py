"""Reads the metadata of one entity (SAML V2.0 Metadata, sections 2.3 and 2.4) within limits of its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import UnsupportedAlgorithm

from app.identity.platform import saml_certificates
from app.identity.platform.saml.saml_names import POST, REDIRECT, ds, md
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule
from app.identity.platform.saml.trusted_keys import TrustedKeys
from app.identity.platform.saml.xml_documents import METADATA_LIMITS, read_xml
from app.identity.platform.saml.xml_elements import (
    attribute,
    children,
    local_name,
    only_child,
    optional_child,
    optional_instant,
    whole_text,
)
from app.identity.platform.saml.xml_signatures import check_places, verified_element

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_CERTIFICATES: Final = 8
_MAX_ENDPOINTS: Final = 50
_MAX_URL_LENGTH: Final = 2_048
_MAX_CERTIFICATE_LENGTH: Final = 16_384
"""In base64. Wrapping the text to PEM takes 0.3 s for a megabyte."""


@dataclass(frozen=True, kw_only=True)
class SamlEndpoint:
    """An address of an entity and the binding that it takes."""

    binding: str
    location: str
    response_location: str = ""
    index: int = 0
    is_default: bool = False


@dataclass(frozen=True, kw_only=True)
class SamlRole:
    """What an entity states of itself as a provider or a service provider."""

    signing_certificates: tuple[str, ...]
    """In PEM, with keys that the gate accepts."""
    encryption_certificates: tuple[str, ...]
    services: tuple[SamlEndpoint, ...]
    """Single sign-on services of a provider, assertion consumer services of a service provider."""
    logout_services: tuple[SamlEndpoint, ...]
    name_id_formats: tuple[str, ...]
    wants_signed_requests: bool = False
    wants_signed_assertions: bool = False


@dataclass(frozen=True, kw_only=True)
class EntityMetadata:
    """The metadata of one entity. Unless `is_signed`, it is worth what its transport is worth."""

    entity_id: str
    valid_until: datetime | None
    provider: SamlRole | None
    service_provider: SamlRole | None
    is_signed: bool


def read_metadata(
    content: bytes, now: datetime, *, pinned: TrustedKeys | None = None, entity_id: str | None = None
) -> EntityMetadata:
    """Return the metadata of an EntityDescriptor. Raises SamlRefusal.

    Args:
        pinned: the keys that must have signed it; without them, a signature is not looked at.
        entity_id: the expected entity, of a connection that exists.
    """
    root = read_xml(content, METADATA_LIMITS)
    if root.tag != md("EntityDescriptor"):
        raise SamlRefusal(
            SamlRule.METADATA,
            "The metadata isn’t that of one entity.",
            expected="EntityDescriptor",
            received=local_name(root.tag),
        )
    entity = root
    if pinned is not None:
        check_places(root, root)
        entity = verified_element(root, root, pinned, now, METADATA_LIMITS)[0]
    found = attribute(entity, "entityID")
    if len(found) > _MAX_URL_LENGTH or found != found.strip() or entity_id not in {None, found}:
        raise SamlRefusal(SamlRule.METADATA, "The metadata is of another entity.", expected=entity_id, received=found)
    valid_until = optional_instant(entity, "validUntil")
    if valid_until is not None and valid_until <= now:
        raise SamlRefusal(
            SamlRule.METADATA,
            "The metadata expired.",
            expected=f"after {now.isoformat()}",
            received=valid_until.isoformat(),
        )
    provider = optional_child(entity, md("IDPSSODescriptor"))
    service_provider = optional_child(entity, md("SPSSODescriptor"))
    if provider is None and service_provider is None:
        raise SamlRefusal(SamlRule.METADATA, "The entity is neither a provider nor a service provider.")
    return EntityMetadata(
        entity_id=found,
        valid_until=valid_until,
        provider=None if provider is None else _role(provider, "SingleSignOnService"),
        service_provider=None if service_provider is None else _role(service_provider, "AssertionConsumerService"),
        is_signed=pinned is not None,
    )


def _role(element: _Element, service: str) -> SamlRole:
    return SamlRole(
        signing_certificates=_certificates(element, "signing"),
        encryption_certificates=_certificates(element, "encryption"),
        services=_endpoints(element, service),
        logout_services=_endpoints(element, "SingleLogoutService"),
        name_id_formats=tuple(whole_text(one) for one in children(element, md("NameIDFormat"))[:_MAX_ENDPOINTS]),
        wants_signed_requests=element.get("WantAuthnRequestsSigned") in {"true", "1"},
        wants_signed_assertions=element.get("WantAssertionsSigned") in {"true", "1"},
    )


def _certificates(role: _Element, use: str) -> tuple[str, ...]:
    """Return the certificates of a use; a key without `use` is for both. The first certificate of a chain has the key."""
    found: list[str] = []
    for descriptor in children(role, md("KeyDescriptor")):
        data = only_child(descriptor, ds("KeyInfo")).find(ds("X509Data"))
        if descriptor.get("use", use) != use or data is None:
            continue
        certificate = data.find(ds("X509Certificate"))
        if certificate is not None:
            found.append(_pem(certificate))
    if len(found) > _MAX_CERTIFICATES:
        raise SamlRefusal(SamlRule.METADATA, "The metadata has too many certificates.", expected=f"{_MAX_CERTIFICATES}")
    return tuple(dict.fromkeys(found))


def _pem(element: _Element) -> str:
    text = "".join((element.text or "").split())
    if len(text) > _MAX_CERTIFICATE_LENGTH:
        raise SamlRefusal(
            SamlRule.METADATA, "A certificate is too long.", expected=f"{_MAX_CERTIFICATE_LENGTH} characters"
        )
    pem = saml_certificates.pem_of(text)
    try:
        problem = saml_certificates.problem_of(pem)
    except (ValueError, UnsupportedAlgorithm):
        problem = "an X.509 certificate"
    if problem or len(element):
        raise SamlRefusal(SamlRule.METADATA, "A certificate of the metadata can’t be used.", expected=problem)
    return pem


def _endpoints(role: _Element, name: str) -> tuple[SamlEndpoint, ...]:
    """Return the endpoints of the bindings that this service has, in their order."""
    found = children(role, md(name))
    if len(found) > _MAX_ENDPOINTS:
        raise SamlRefusal(SamlRule.METADATA, f"The metadata has too many {name}.", expected=f"at most {_MAX_ENDPOINTS}")
    return tuple(_endpoint(one) for one in found if one.get("Binding") in {POST, REDIRECT})


def _endpoint(element: _Element) -> SamlEndpoint:
    index = str(element.get("index", "0"))
    if not (index.isascii() and index.isdigit() and len(index) <= len("65535")):
        raise SamlRefusal(SamlRule.METADATA, "The index of an endpoint isn’t a number.", received=index)
    return SamlEndpoint(
        binding=attribute(element, "Binding"),
        location=_url(attribute(element, "Location")),
        response_location=_url(str(element.get("ResponseLocation", ""))),
        index=int(index),
        is_default=element.get("isDefault") in {"true", "1"},
    )


def _url(url: str) -> str:
    """Return an address of the web. Whether it may be reached is decided where it is used."""
    is_web = url.startswith(("https://", "http://")) and url.isprintable() and " " not in url
    if url and not (is_web and len(url) <= _MAX_URL_LENGTH):
        raise SamlRefusal(SamlRule.METADATA, "An endpoint isn’t a URL of the web.", expected="https://…", received=url)
    return url
