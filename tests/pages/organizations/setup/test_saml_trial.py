"""The test of a SAML product in the set-up guide: it signs nobody in, and the connection becomes active as it was tested."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from lxml import etree
from sqlalchemy import select

from app.identity.directory.organizations.connections.organization_connection_store import C
from app.identity.platform.saml.bindings import redirected
from app.identity.platform.saml.expectations import SignedPart
from app.identity.platform.saml.metadata_reader import read_metadata
from app.identity.platform.saml.trusted_keys import TrustedKeys
from tests.support.organizations.connected_organization import DOMAIN, MINA
from tests.support.organizations.saml_organization import ATTRIBUTES, SIGN_IN, provider_signer, read_request
from tests.support.organizations.saml_setup_guides import SamlSetup, provider_metadata
from tests.support.saml import encryption
from tests.support.tenants.audit_entries import entries_of
from tests.support.visitors.visitor import NewVisitorAt

CLAIM = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/"
EMAIL_FORMAT = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"


@pytest.mark.both_databases
def test_saml_product_is_tested_activated_and_signed_in_with(
    saml_setup: SamlSetup, new_visitor_at: NewVisitorAt
) -> None:
    guide = saml_setup.guide
    page = guide.with_product("SAML 2.0")
    shown = page.press("Save and continue", metadata=saml_setup.metadata)
    assert shown.heading == "Test the sign-in"
    assert guide.visitor.open("/setup/activate").heading == "Test the sign-in"
    tested = saml_setup.test(shown)
    assert "The test worked" in tested.text
    assert f"You signed in as {MINA['email']}" in tested.text
    assert guide.connections() == []
    done = tested.press("Save and continue").press("Activate")
    assert done.heading == "Single sign-on is active"
    (connected,) = guide.connections()
    assert (connected["ConnectionType"], connected["IsActive"], connected["Domain"]) == ("saml_custom", True, DOMAIN)
    assert connected["ACSEndpoint"] in page.html
    assert connected["EntityId"] in page.html
    assert connected["IDPCertificate"]["Certificate"].split() == provider_signer().certificate.split()
    mina = new_visitor_at(guide.tenant)
    request = read_request(
        mina.open("/login").press("Sign in", identifier=MINA["email"], password="by a manager 7").address
    )
    assert saml_setup.post(request, saml_setup.answer(request).posted(), visitor=mina).profile_name == "Mina Harker"


def test_saml_test_signs_nobody_in(saml_setup: SamlSetup) -> None:
    assert "The test worked" in saml_setup.tested().text
    assert saml_setup.visitor.cookies("session") == []
    assert saml_setup.visitor.open("/profile").is_sign_in
    names = ("account.registered", "account.created", "identity.linked", "organization.member_added")
    assert [name for name in names for _ in entries_of(saml_setup.guide.business.tenant, name)] == []


def test_our_certificate_and_addresses_stay_after_activation(saml_setup: SamlSetup) -> None:
    """The administrator configures the provider once; it may read our metadata before anything is active."""
    request = saml_setup.begin(saml_setup.with_values())
    address = f"{urlsplit(str(request.root.findtext('{*}Issuer'))).path}/metadata.xml"
    before = saml_setup.visitor.open(address).html
    shown = saml_setup.post(request, saml_setup.answer(request).posted())
    shown.press("Save and continue").press("Activate")
    (connected,) = saml_setup.guide.connections()
    assert saml_setup.visitor.open(address).html == before
    found = read_metadata(before.encode(), saml_setup.guide.tenant.services.clock.now())
    assert found.entity_id == connected["EntityId"] == request.root.findtext("{*}Issuer")
    assert request.acs_url == connected["ACSEndpoint"]
    assert connected["SPCertificate"]["Certificate"].replace("\n", "")[27:-25] in before.replace("\n", "")


def test_request_of_a_saml_test_is_signed_by_the_draft(saml_setup: SamlSetup) -> None:
    page = saml_setup.with_values().press("Sign in to test")
    request = read_request(page.address)
    assert page.address.startswith(f"{SIGN_IN}?SAMLRequest=")
    assert request.root.get("Destination") == SIGN_IN
    assert len(request.relay_state) <= 80
    envelope = redirected("SAMLRequest", urlsplit(page.address).query)
    assert envelope.query_signature is not None
    saml_setup.post(request, saml_setup.answer(request).posted()).press("Save and continue").press("Activate")
    (connected,) = saml_setup.guide.connections()
    keys = TrustedKeys((connected["SPCertificate"]["Certificate"],))
    envelope.query_signature.verify(keys, saml_setup.guide.tenant.services.clock.now())


def test_provider_that_takes_forms_gets_one(saml_setup: SamlSetup) -> None:
    saml_setup.metadata = provider_metadata(provider_signer().certificate, "HTTP-POST")
    sent = saml_setup.with_values().press("Sign in to test")
    assert f'action="{SIGN_IN}"' in sent.html
    assert {"SAMLRequest", "RelayState"} <= sent.form("Continue").fields.keys()


@pytest.mark.parametrize("part", [SignedPart.ASSERTION, SignedPart.RESPONSE, SignedPart.BOTH], ids=str)
def test_either_signature_passes_the_test(saml_setup: SamlSetup, part: SignedPart) -> None:
    request = saml_setup.begin(saml_setup.with_values())
    shown = saml_setup.post(request, saml_setup.answer(request).posted(signed=part))
    assert "The test worked" in shown.text


def test_name_id_and_attributes_are_shown_and_mapped(saml_setup: SamlSetup) -> None:
    shown = saml_setup.test(
        saml_setup.with_values(), attributes={**ATTRIBUTES, "groups": ["Night", "Day"], "office": "Iași"}
    )
    for text in ("NameID: mina-1", f"email: {MINA['email']}", "firstName: Mina", "Night, Day", "Iași"):
        assert text in shown.text, text
    shown.press("Save and continue", last_name="office").press("Activate")
    (connected,) = saml_setup.guide.connections()
    attributes = connected["Attributes"]
    assert (attributes["ID"], attributes["Email"], attributes["LastName"]) == ("NameID", "email", "office")


def test_common_names_are_found_and_mapped(saml_setup: SamlSetup) -> None:
    attributes = {f"{CLAIM}emailaddress": MINA["email"], f"{CLAIM}givenname": "Mina", "urn:oid:2.5.4.4": "Harker"}
    shown = saml_setup.test(saml_setup.with_values(), attributes=attributes)
    assert f"You signed in as {MINA['email']}" in shown.text
    shown.press("Save and continue").press("Activate")
    mapped = saml_setup.guide.connections()[0]["Attributes"]
    assert (mapped["Email"], mapped["FirstName"], mapped["LastName"]) == (
        f"{CLAIM}emailaddress", f"{CLAIM}givenname", "urn:oid:2.5.4.4",
    )  # fmt: skip


def test_address_as_name_id_is_enough(saml_setup: SamlSetup) -> None:
    shown = saml_setup.test(saml_setup.with_values(), attributes={}, name_id=MINA["email"], name_id_format=EMAIL_FORMAT)
    assert f"You signed in as {MINA['email']}" in shown.text
    shown.press("Save and continue").press("Activate")
    mapped = saml_setup.guide.connections()[0]["Attributes"]
    assert (mapped["ID"], mapped["Email"]) == ("NameID", "NameID")


def test_changing_name_id_asks_for_another_attribute(saml_setup: SamlSetup) -> None:
    transient = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
    attributes = {**ATTRIBUTES, "uid": "u-17"}
    shown = saml_setup.test(saml_setup.with_values(), name_id_format=transient, attributes=attributes)
    assert "The test didn’t work" in shown.text
    assert "a persistent NameID, or a mapped attribute" in shown.text
    again = shown.press("Save and continue", id="uid")
    assert again.heading == "Test the sign-in"
    tested = saml_setup.test(again, "Test again", name_id_format=transient, attributes=attributes)
    assert "The test worked" in tested.text
    still = tested.press("Save and continue", id="NameID")
    assert (
        "The test didn’t work"
        in saml_setup.test(still, "Test again", name_id_format=transient, attributes=attributes).text
    )


def test_assertion_that_is_encrypted_for_the_draft_passes(saml_setup: SamlSetup) -> None:
    request = saml_setup.begin(saml_setup.with_values())
    metadata = saml_setup.visitor.open(f"{urlsplit(str(request.root.findtext('{*}Issuer'))).path}/metadata.xml").html
    bare = str(etree.fromstring(metadata.encode()).findtext(".//{*}X509Certificate"))
    key: Any = x509.load_der_x509_certificate(base64.b64decode(bare))  # of which `encrypted` takes the public key alone

    def encrypt(response: etree._Element) -> None:
        assertion = response.find("{*}Assertion")
        assert assertion is not None
        response.replace(assertion, encryption.encrypted(assertion, key))

    shown = saml_setup.post(request, saml_setup.answer(request).posted(after=encrypt))
    assert "The test worked" in shown.text


def test_metadata_may_change_what_was_read_first(saml_setup: SamlSetup) -> None:
    saml_setup.tested().press("Save and continue").press("Activate")
    (connected,) = saml_setup.guide.connections()
    with saml_setup.guide.business.tenant.services.database.engine.connect() as connection:
        (content,) = connection.execute(select(C.content).where(C.connection_id == connected["Id"])).one()
    assert content["stated"] == []


def test_long_attribute_names_are_shown_by_their_ends(saml_setup: SamlSetup) -> None:
    """Two of one end keep their whole names; what is stored is the whole name."""
    other = "https://globex.example/claims/givenname"
    attributes = {f"{CLAIM}emailaddress": MINA["email"], f"{CLAIM}givenname": "Mina", other: "M."}
    shown = saml_setup.test(saml_setup.with_values(), attributes=attributes)
    for text in (f"emailaddress: {MINA['email']}", f"{CLAIM}givenname: Mina", f"{other}: M."):
        assert text in shown.text, text
    assert "groups (not received)" in shown.text


def test_wrong_entity_is_named_in_the_readers_language(saml_setup: SamlSetup) -> None:
    page = saml_setup.with_values()
    shown = saml_setup.test(page, audience="https://other.example/")
    assert "Your provider sent a different entity ID. Fix this at your provider, then test again." in shown.text
    assert "Copy the expected value" in shown.html
    assert "Sign in with your work account" not in shown.text
    german = saml_setup.visitor.open("/setup/test?lang=de")
    assert "Ihr Anbieter hat eine andere Entity-ID gesendet." in german.text
