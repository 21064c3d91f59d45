"""A service provider may have several certificates: the next one works beside the present one, and an expired one is not used."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.identity.platform.saml_writing.xml_signing import SigningKey
from tests.pages.saml.test_refused_requests import check_refused
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.saml import signers
from tests.support.saml.service_provider import ServiceProvider, own_key, posted_form
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.visitor import Visitor

ONE = "/v2/manage/saml-clients/Wiki"


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.test")


@pytest.fixture
def wiki(tenant: TenantServer) -> ServiceProvider:
    provider = ServiceProvider(tenant, key=own_key())
    provider.store()
    return provider


def dated(name: str, from_days: int, to_days: int) -> SigningKey:
    key, now = signers.rsa_key(f"sp {name}"), datetime.now(UTC)
    certificate = signers.certificate_of(key, now + timedelta(days=from_days), now + timedelta(days=to_days))
    return SigningKey(certificate, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())


def bare(certificate: str) -> str:
    return "".join(certificate.split("\n")[1:-2])


@pytest.mark.parametrize("form", ["PEM", "base64", "bundle"])
def test_each_certificate_verifies_requests(visitor: Visitor, wiki: ServiceProvider, ada: Person, form: str) -> None:
    first, second, third = own_key(), own_key("next"), own_key("later")
    further = {
        "PEM": [second.certificate, third.certificate],
        "base64": [bare(second.certificate), bare(third.certificate)],
        "bundle": [second.certificate + third.certificate],
    }[form]
    wiki.change(SpCertificates=further)
    shown = answered(ask(wiki.tenant, machine(wiki.tenant, "client:read"), "GET", ONE))
    assert (shown["SpCertificate"], shown["SpCertificates"]) == ({"Certificate": first.certificate}, further)
    wiki.accept(visitor, wiki.open(visitor).press("Sign in", identifier=ada.email, password=ada.password))
    for key in (second, third, first):
        wiki.key = key
        wiki.accept(visitor, wiki.open(visitor))


def test_removed_certificate_verifies_nothing(visitor: Visitor, wiki: ServiceProvider) -> None:
    second = own_key("next")
    wiki.change(SpCertificates=[second.certificate])
    assert wiki.open(visitor).is_sign_in
    wiki.change(SpCertificate={"Certificate": second.certificate}, SpCertificates=[])
    check_refused(wiki.tenant, wiki.open(visitor), "2015", "key")
    wiki.key = second
    assert wiki.open(visitor).is_sign_in


def test_further_certificates_alone_demand_signatures(visitor: Visitor, wiki: ServiceProvider) -> None:
    wiki.change(SpCertificate={"Certificate": None}, SpCertificates=[own_key().certificate])
    assert wiki.metadata(visitor).provider is not None
    assert wiki.open(visitor).is_sign_in
    wiki.key = None
    check_refused(wiki.tenant, wiki.open(visitor), "2015", "verified")


@pytest.mark.parametrize("dates", [(-20, -1), (1, 20)], ids=["expired", "not yet valid"])
def test_certificate_out_of_its_time_is_not_used(
    visitor: Visitor, wiki: ServiceProvider, ada: Person, dates: tuple[int, int]
) -> None:
    other = dated("other", *dates)
    wiki.change(
        SpCertificate={"Certificate": other.certificate}, SpCertificates=[own_key().certificate], EncryptAssertion=True
    )
    page = wiki.open(visitor).press("Sign in", identifier=ada.email, password=ada.password)
    assert wiki.accept(visitor, page).was_encrypted, "for the one that is valid"
    wiki.key = other
    check_refused(wiki.tenant, wiki.open(visitor), "2015", "key")


def test_assertion_is_not_encrypted_for_an_expired_key(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    expired, elliptic = dated("other", -20, -1), signers.ec_signer().certificate
    wiki.change(
        SpCertificate={"Certificate": expired.certificate},
        SpCertificates=[elliptic],
        EncryptAssertion=True,
        IsIdpInitiated=True,
    )
    page = visitor.open("/service/saml/idp/login?AppName=wiki")
    refused_page = page.press("Sign in", identifier=ada.email, password=ada.password)
    check_refused(wiki.tenant, refused_page, "1197", "client")
    wiki.change(SpCertificates=[own_key().certificate])
    page = visitor.open("/service/saml/idp/login?AppName=wiki")
    assert "SAMLResponse" in posted_form(page).fields


@pytest.mark.parametrize("case", ["no certificate", "short key", "too many", "private key", "empty"])
def test_wrong_further_certificate_is_refused(wiki: ServiceProvider, case: str) -> None:
    wrong = {
        "no certificate": ["MIIC"],
        "short key": [signers.rsa_signer("short", bits=1_024).certificate],
        "too many": ["".join(own_key(str(number)).certificate for number in range(8))],
        "private key": [own_key("next").private_key],
        "empty": [""],
    }[case]
    token = machine(wiki.tenant, "client:update", "client:read")
    before = answered(ask(wiki.tenant, token, "GET", ONE))
    answer = ask(wiki.tenant, token, "PUT", ONE, {**wiki.body, "SpCertificates": wrong})
    assert refused(answer) == (400, 7900)
    assert "SpCertificates" in answer.text
    assert "PRIVATE" not in answer.text
    assert answered(ask(wiki.tenant, token, "GET", ONE)) == before


def test_metadata_has_both_certificates_in_order(visitor: Visitor, wiki: ServiceProvider) -> None:
    first = wiki.change_certificate("next-certificate")
    role = wiki.metadata(visitor).provider
    assert role is not None
    pair = first["IdpCertificate"]["Certificate"], first["NextCertificate"]["Certificate"]
    assert same(role.signing_certificates, pair)
    wiki.change_certificate("activate-certificate")
    role = wiki.metadata(visitor).provider
    assert role is not None
    assert same(role.signing_certificates, (pair[1], pair[0]))
    assert same(role.encryption_certificates, ())
    wiki.change_certificate("former-certificate", "DELETE")
    role = wiki.metadata(visitor).provider
    assert role is not None
    assert same(role.signing_certificates, (pair[1],))


def same(found: tuple[str, ...], expected: tuple[str, ...]) -> bool:
    loaded = [[x509.load_pem_x509_certificate(pem.encode()) for pem in pems] for pems in (found, expected)]
    return loaded[0] == loaded[1]
