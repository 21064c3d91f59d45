"""Connections of organizations read the metadata of SAML identity providers."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from app.identity.directory.organizations.connections import organization_connection_store
from tests.support.organizations.connections import certificate
from tests.support.organizations.management import PATH, Business, a_business
from tests.support.saml.metadata_server import serving
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


METADATA = """<?xml version="1.0"?>
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example/saml"
  xmlns:ds="http://www.w3.org/2000/09/xmldsig#">
 <md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
  <md:KeyDescriptor use="encryption"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>{certificate}</ds:X509Certificate></ds:X509Data>
  </ds:KeyInfo></md:KeyDescriptor>
  <md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>
  {certificate}
  </ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
  <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://idp.example/post"/>
  <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example/sso"/>
 </md:IDPSSODescriptor>
</md:EntityDescriptor>"""


@contextmanager
def metadata_server(text: str) -> Iterator[str]:
    with serving(text.encode()) as served:
        yield served.url


def encoded() -> str:
    loaded = x509.load_pem_x509_certificate(certificate().encode())
    return base64.b64encode(loaded.public_bytes(Encoding.DER)).decode()


def test_metadata_fills_in_issuer_and_certificate(business: Business) -> None:
    with metadata_server(METADATA.format(certificate=encoded())) as url:
        body = {"Name": "okta", "ConnectionType": "saml_custom", "IDPMetadataUrl": url}
        made = answered(business.send("POST", f"{PATH}/{business.org}/connections", body))
    assert (made["IDPEntityId"], made["IDPMetadataUrl"]) == ("https://idp.example/saml", url)
    assert made["IDPCertificate"]["Certificate"].split() == certificate().split()
    with call_of(business.tenant.services, business.tenant.name) as context:
        found = organization_connection_store.by_id(context, business.org, made["Id"])
        assert found is not None
        assert found.content["idp_sign_in_url"] == "https://idp.example/sso"


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa">]>'


@pytest.mark.parametrize(
    "text",
    [
        "no XML",
        "<x/>",
        METADATA.format(certificate="not base64!"),
        METADATA.format(certificate="AAAA"),
        METADATA.replace('<?xml version="1.0"?>', BOMB).format(certificate="AAAA"),
    ],
    ids=["text", "other XML", "no base64", "no certificate", "entities"],
)
def test_wrong_metadata_is_refused(business: Business, text: str) -> None:
    with metadata_server(text) as url:
        body = {"Name": "okta", "ConnectionType": "saml_custom", "IDPMetadataUrl": url}
        assert refused(business.send("POST", f"{PATH}/{business.org}/connections", body)) == (400, 7900)
    assert refused(business.send("POST", f"{PATH}/{business.org}/connections", body)) == (400, 7900)  # gone by now
    assert answered(business.send("GET", f"{PATH}/{business.org}/connections")) == {"Data": []}
