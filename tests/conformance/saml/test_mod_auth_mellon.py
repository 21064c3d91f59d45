"""mod_auth_mellon protects a page of a real Apache: sign-in by redirect, attributes, and single logout both ways."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.oauth.relying_party import Person
from tests.support.saml.peers.apache_site import HOME, ApacheSite, served_by_apache, write_key_and_metadata
from tests.support.saml.service_provider import ServiceProvider, own_key, posted_form
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.visitor import Visitor

ENTITY, ACS, SIGN_OUT = f"{HOME}/mellon/metadata", f"{HOME}/mellon/postResponse", f"{HOME}/mellon/logout"
PROTECTION = """
<Location />
  Require all granted
  MellonEnable info
  MellonEndpointPath /mellon
  MellonSPentityId {entity}
  MellonSPPrivateKeyFile {folder}/key.pem
  MellonSPCertFile {folder}/certificate.pem
  MellonSPMetadataFile {folder}/sp.xml
  MellonIdPMetadataFile {folder}/idp.xml
  MellonSignatureMethod rsa-sha256
  MellonUser mail
  MellonSecureCookie Off
</Location>
<Location /members/>
  MellonEnable auth
  Require valid-user
  Header always set X-Person "expr=%{{REMOTE_USER}}"
  Header always set X-Site "%{{MELLON_site}}e"
</Location>
"""
METADATA = """<EntityDescriptor entityID="{entity}" xmlns="urn:oasis:names:tc:SAML:2.0:metadata">
<SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="true"
 protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><KeyDescriptor><KeyInfo
 xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>{certificate}</X509Certificate></X509Data></KeyInfo>
</KeyDescriptor><SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="{sign_out}"/>
<AssertionConsumerService index="0" isDefault="true" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
 Location="{acs}"/></SPSSODescriptor></EntityDescriptor>"""


@pytest.fixture
def wiki(tenant: TenantServer) -> ServiceProvider:
    provider = ServiceProvider(tenant, "Wiki", ENTITY, ACS, own_key())
    provider.store(
        SpLogoutUrl=SIGN_OUT, Attributes={"mail": {"Value": "Email"}, "site": {"Value": "Bern", "IsStatic": True}}
    )
    return provider


@pytest.fixture
def apache(visitor: Visitor, wiki: ServiceProvider) -> Iterator[ApacheSite]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bare = write_key_and_metadata(folder, visitor, wiki)
        (folder / "sp.xml").write_text(METADATA.format(entity=ENTITY, certificate=bare, sign_out=SIGN_OUT, acs=ACS))
        protection = PROTECTION.format(folder=folder, entity=ENTITY)
        with served_by_apache(folder, "auth_mellon", protection, ACS) as site:
            yield site


def signed_in(apache: ApacheSite, visitor: Visitor, ada: Person) -> None:
    members = apache.sign_in(visitor, ada, visitor.open(apache.leaves("/members/")))
    assert (members.headers["X-Person"], members.headers["X-Site"]) == (ada.email, "Bern")


def test_apache_signs_in_and_out(apache: ApacheSite, visitor: Visitor, ada: Person) -> None:
    signed_in(apache, visitor, ada)
    back = visitor.open(apache.leaves(f"/mellon/logout?ReturnTo={HOME}/bye"))
    assert apache.open(back.address).headers["Location"] == f"{HOME}/bye"
    assert visitor.open("/profile").is_sign_in
    assert apache.is_signed_out


def test_our_sign_out_reaches_apache(apache: ApacheSite, visitor: Visitor, ada: Person) -> None:
    signed_in(apache, visitor, ada)
    page = visitor.open("/logout").press("Sign out")
    assert "signed out" in visitor.open(apache.open(page.address).headers["Location"]).text
    assert apache.is_signed_out


@pytest.fixture
def next_certificate(wiki: ServiceProvider) -> str:
    """Publish a next certificate before Apache reads the metadata."""
    return str(wiki.change_certificate("next-certificate")["NextCertificate"]["Certificate"])


def test_apache_follows_the_certificate_it_knows(
    next_certificate: str, apache: ApacheSite, visitor: Visitor, wiki: ServiceProvider, ada: Person
) -> None:
    signed_in(apache, visitor, ada)
    active = wiki.change_certificate("activate-certificate")
    assert active["IdpCertificate"]["Certificate"] == next_certificate
    apache.client.cookies.clear()
    signed_in(apache, visitor, ada)
    wiki.change_certificate("renew-certificate")
    apache.client.cookies.clear()
    page = visitor.open(apache.leaves("/members/"))
    refused = apache.post(ACS, posted_form(page).fields)
    assert refused.status_code == 400, "a certificate that it has not read"
