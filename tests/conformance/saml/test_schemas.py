"""Every document that this service writes is valid by the schemas of OASIS and W3C, which OpenSAML brings."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask import Flask
from lxml import etree

from app.identity.platform.saml_writing import request_writer
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.organizations.connected_organization import business_of
from tests.support.organizations.saml_organization import SamlOrganization
from tests.support.saml.responses import attribute
from tests.support.saml.service_provider import ServiceProvider, read_document, response_xml
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

FOLDERS = [Path("/usr/share/xml/opensaml"), Path("/usr/share/xml/xmltooling")]
SCHEMA = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:import namespace="urn:oasis:names:tc:SAML:2.0:metadata" schemaLocation="saml-schema-metadata-2.0.xsd"/>
<xs:import namespace="urn:oasis:names:tc:SAML:2.0:protocol" schemaLocation="saml-schema-protocol-2.0.xsd"/>
<xs:import namespace="urn:oasis:names:tc:SAML:metadata:algsupport" schemaLocation="sstc-saml-metadata-algsupport-v1.0.xsd"/>
<xs:import namespace="http://www.w3.org/2009/xmlenc11#" schemaLocation="xenc11-schema.xsd"/>
</xs:schema>"""


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> etree.XMLSchema:
    """Return the schemas; each one names the others by addresses of the network, here by their files alone."""
    folder = tmp_path_factory.mktemp("schemas")
    for path in [path for installed in FOLDERS for path in installed.glob("*.xsd")]:
        text = re.sub(r'schemaLocation="[^"]*/([^"/]+)"', r'schemaLocation="\1"', path.read_text())
        (folder / path.name).write_text(text)
    (folder / "all.xsd").write_text(SCHEMA)
    return etree.XMLSchema(etree.parse(folder / "all.xsd"))


Problems = Callable[[bytes], str]


@pytest.fixture
def problems(schema: etree.XMLSchema) -> Problems:
    """Return a function that tells what the schemas say is wrong with a document."""

    def found(document: bytes) -> str:
        return "" if schema.validate(etree.fromstring(document)) else str(schema.error_log)

    return found


def inflated(page: VisitedPage, name: str) -> bytes:
    return zlib.decompress(base64.b64decode(page.query[name]), -zlib.MAX_WBITS)


@pytest.fixture
def globex(
    world: World, identity_app: Flask, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> SamlOrganization:
    return SamlOrganization(world, business_of(world, identity_app), new_visitor_at, fake_provider)


def test_metadata_of_the_provider_is_valid(problems: Problems, visitor: Visitor, wiki: ServiceProvider) -> None:
    assert problems(read_document(wiki.tenant, visitor, wiki.name).data) == ""


def test_metadata_of_a_connection_is_valid(problems: Problems, globex: SamlOrganization) -> None:
    client = PlainClient(globex.visitor.client.application, use_cookies=False)
    path = urlsplit(str(globex.connection["MetadataUrl"])).path
    assert problems(client.get(path, base_url=globex.visitor.home).data) == ""


def test_request_is_valid(problems: Problems, globex: SamlOrganization) -> None:
    assert problems(inflated(globex.begin(), "SAMLRequest")) == ""


@pytest.mark.parametrize("members", [{}, {"SignResponse": True, "EncryptAssertion": True}], ids=str)
def test_response_is_valid(
    problems: Problems, visitor: Visitor, wiki: ServiceProvider, ada: Person, members: dict[str, bool]
) -> None:
    wiki.change(**members)
    page = wiki.open(visitor).press("Sign in", identifier=ada.email, password=ada.password)
    assert problems(response_xml(page)) == ""


def test_messages_of_single_logout_are_valid(
    problems: Problems, visitor: Visitor, wiki: ServiceProvider, ada: Person
) -> None:
    wiki.open(visitor).press("Sign in", identifier=ada.email, password=ada.password)
    request = inflated(visitor.open("/logout").press("Sign out"), "SAMLRequest")
    assert problems(request) == ""
    answer = request_writer.logout_response(
        entity_id="https://idp.example/", destination="https://wiki.example/slo", request_id="_1", now=wiki.now, is_complete=False
    )  # fmt: skip
    assert problems(etree.tostring(answer)) == ""


@pytest.mark.parametrize(
    ("element", "name"), [("SigningMethod", "Algorithm"), ("IDPSSODescriptor", "protocolSupportEnumeration")]
)
def test_wrong_document_is_not_valid(
    problems: Problems, visitor: Visitor, wiki: ServiceProvider, element: str, name: str
) -> None:
    root = etree.fromstring(read_document(wiki.tenant, visitor, wiki.name).data)
    attribute(element, name, None)(root)
    assert problems(etree.tostring(root))
