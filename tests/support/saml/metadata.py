"""Metadata of a provider and of a service provider."""

from __future__ import annotations

from typing import Any

from lxml import etree

from tests.support.saml import signers
from tests.support.saml.responses import NOTHING, Change
from tests.support.saml.signers import DS, Signer

ENTITY = "https://idp.example/saml"
_BINDING = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-"


def key_descriptor(certificate: str, use: str = ' use="signing"') -> str:
    bare = "\n   ".join(certificate.splitlines()[1:-1])
    return (
        f'<md:KeyDescriptor{use}><ds:KeyInfo xmlns:ds="{DS}"><ds:X509Data><ds:X509Certificate>{bare}</ds:X509Certificate>'
        "</ds:X509Data></ds:KeyInfo></md:KeyDescriptor>"
    )


def metadata_tree(keys: str | None = None) -> etree._Element:
    """Return the metadata of a provider that is a service provider too."""
    keys = key_descriptor(signers.rsa_signer().certificate) if keys is None else keys
    protocol = 'protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"'
    return etree.fromstring(
        f'<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="{ENTITY}" ID="_metadata1">'
        f'<md:IDPSSODescriptor {protocol} WantAuthnRequestsSigned="true">{keys}'
        f'<md:SingleLogoutService Binding="{_BINDING}Redirect" Location="https://idp.example/slo"/>'
        "<md:NameIDFormat>urn:oasis:names:tc:SAML:2.0:nameid-format:persistent</md:NameIDFormat>"
        f'<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:SOAP" Location="https://idp.example/soap"/>'
        f'<md:SingleSignOnService Binding="{_BINDING}Redirect" Location="https://idp.example/sso"/></md:IDPSSODescriptor>'
        f'<md:SPSSODescriptor {protocol} WantAssertionsSigned="1">{key_descriptor(signers.ec_signer().certificate, "")}'
        f'<md:AssertionConsumerService Binding="{_BINDING}POST" Location="https://idp.example/acs" index="3" isDefault="true"/>'
        "</md:SPSSODescriptor></md:EntityDescriptor>"
    )


def metadata(
    *,
    change: Change = NOTHING,
    after: Change = NOTHING,
    signer: Signer | None = None,
    keys: str | None = None,
    **form: Any,
) -> bytes:
    """Return the metadata, signed by a signer if there is one. The other arguments are those of `signers.sign`."""
    root = metadata_tree(keys)
    change(root)
    if signer is not None:
        signers.sign(root, signer, place=0, **form)
    after(root)
    return etree.tostring(root)
