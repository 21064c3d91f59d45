"""Fetches the metadata of a SAML identity provider, from an address that a tenant names. The document is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from app.contract.federation.connections import is_provider_url
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.saml.metadata_reader import EntityMetadata, SamlEndpoint, read_metadata
from app.identity.platform.saml.saml_names import REDIRECT
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule
from app.identity.platform.saml.trusted_keys import TrustedKeys
from app.identity.platform.saml.xml_documents import METADATA_LIMITS
from app.kit.outbound.host_resolver import Resolver

_ACCEPT: Final = "application/samlmetadata+xml, application/xml, text/xml"


class MetadataUnusable(Exception):
    """The address does not answer, or not with the metadata of the expected provider. The text is for the tenant's administrators."""


@dataclass(frozen=True, kw_only=True)
class SamlProviderFacts:
    """What an identity provider states about itself."""

    entity_id: str
    certificates: tuple[str, ...]
    """Those that verify its signatures, in PEM."""
    sign_in_url: str
    sign_in_binding: str
    sign_out_url: str
    """Empty if it has no address for single logout."""
    sign_out_binding: str = ""
    sign_out_response_url: str = ""
    """Where it takes answers to its requests, if that is another address."""

    @property
    def content(self) -> dict[str, Any]:
        """The members of a connection's content that have these facts, without the certificates."""
        return {
            "idp_entity_id": self.entity_id,
            "idp_sign_in_url": self.sign_in_url,
            "idp_sign_in_binding": self.sign_in_binding,
            "idp_sign_out_url": self.sign_out_url,
            "idp_sign_out_binding": self.sign_out_binding,
            "idp_sign_out_response_url": self.sign_out_response_url,
        }


def fetch(
    resolver: Resolver, url: str, now: datetime, *, pinned: TrustedKeys | None = None, entity_id: str | None = None
) -> SamlProviderFacts:
    """Return the facts of the metadata at an address. The caller holds no database connection. Raises MetadataUnusable.

    Args:
        pinned, entity_id: as of `read_metadata`.
    """
    try:
        content = outbound_http.get_content(resolver, url, _ACCEPT, max_bytes=METADATA_LIMITS.size_bytes)
    except ProviderUnavailable as problem:
        raise MetadataUnusable(str(problem)) from None
    return read(content, now, pinned=pinned, entity_id=entity_id)


def read(
    content: bytes, now: datetime, *, pinned: TrustedKeys | None = None, entity_id: str | None = None
) -> SamlProviderFacts:
    """Return the facts of a metadata document. Raises MetadataUnusable."""
    try:
        return _facts(read_metadata(content, now, pinned=pinned, entity_id=entity_id))
    except SamlRefusal as refusal:
        raise MetadataUnusable(_sentence(refusal)) from None


def _facts(metadata: EntityMetadata) -> SamlProviderFacts:
    """Return what the metadata says of a provider. Raises SamlRefusal."""
    provider = metadata.provider
    if provider is None or not provider.signing_certificates or not provider.services:
        text = "The metadata is not that of an identity provider with a certificate and an address for sign-in."
        raise SamlRefusal(SamlRule.METADATA, text)
    sign_in, sign_out = _usable(provider.services), _usable(provider.logout_services)
    if sign_in is None:
        text = "The address for sign-in is not accepted."
        raise SamlRefusal(SamlRule.METADATA, text, expected="https", received=provider.services[0].location)
    return SamlProviderFacts(
        entity_id=metadata.entity_id,
        certificates=provider.signing_certificates,
        sign_in_url=sign_in.location,
        sign_in_binding=sign_in.binding,
        sign_out_url=sign_out.location if sign_out is not None else "",
        sign_out_binding=sign_out.binding if sign_out is not None else "",
        sign_out_response_url=sign_out.response_location if sign_out is not None else "",
    )


def _usable(services: tuple[SamlEndpoint, ...]) -> SamlEndpoint | None:
    """Return the endpoint that browsers are sent to: one that takes redirects if there is one.

    Browsers carry answers to its ResponseLocation, which is judged as its Location is.
    """
    found = [
        one
        for one in services
        if is_provider_url(one.location) and is_provider_url(one.response_location or one.location)
    ]
    return next((one for one in found if one.binding == REDIRECT), found[0] if found else None)


def _sentence(refusal: SamlRefusal) -> str:
    facts = (("expected", refusal.expected), ("received", refusal.received))
    told = "; ".join(f"{name} {text}" for name, text in facts if text)
    text = str(refusal).rstrip(".")
    return f"{text} ({told})" if told else text
