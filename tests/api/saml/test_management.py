"""A tenant's server keeps SAML clients and SAML custom providers, their certificates and keys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.identity.platform import saml_certificates
from app.kit.resources.resource import MASKED
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

CLIENTS, PROVIDERS = "/v2/manage/saml-clients", "/v2/manage/custom-providers/saml"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
Ask = Callable[..., Any]


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server()


@pytest.fixture
def send(tenant: TenantServer) -> Ask:
    actions = ("read", "create", "update", "delete")
    token = machine(tenant, *(f"{item}:{action}" for item in ("client", "provider") for action in actions), "all")
    return lambda method, path, body=None: ask(tenant, token, method, path, body)


def test_client_gets_a_certificate_and_a_masked_key(send: Ask) -> None:
    made = answered(send("POST", CLIENTS, {"AppName": "wiki"}))
    loaded = x509.load_pem_x509_certificate(made["IdpCertificate"]["Certificate"].encode())
    assert loaded.not_valid_after_utc - loaded.not_valid_before_utc == timedelta(days=3_650, minutes=5)
    assert made["IdpCertificate"]["Key"] == MASKED
    fingerprint = saml_certificates.sha1_fingerprint(made["IdpCertificate"]["Certificate"])
    assert made["IntegrationConfigs"]["IdpSHA1Fingerprint"] == fingerprint
    assert len(fingerprint) == 59
    changed = answered(send("PUT", f"{CLIENTS}/wiki", {"IssuerUrl": "https://wiki.example"}))
    assert changed["IdpCertificate"] == made["IdpCertificate"]
    renewed = answered(send("POST", f"{CLIENTS}/wiki/renew-certificate"))
    assert renewed["IdpCertificate"]["Certificate"] != made["IdpCertificate"]["Certificate"]
    assert renewed["IdpCertificate"]["Key"] == MASKED
    assert renewed["IntegrationConfigs"]["IdpSHA1Fingerprint"] != fingerprint
    assert answered(send("GET", f"{CLIENTS}/wiki")) == renewed


def test_client_keeps_its_own_key_pair(send: Ask) -> None:
    certificate, key = saml_certificates.generate("own", NOW)
    own = {"Certificate": certificate, "Key": key}
    made = answered(send("POST", CLIENTS, {"AppName": "wiki", "IdpCertificate": own}))
    assert made["IdpCertificate"] == {"Certificate": certificate, "Key": MASKED}
    same = {"IdpCertificate": {"Certificate": certificate, "Key": MASKED}}
    assert answered(send("PUT", f"{CLIENTS}/wiki", same))["IdpCertificate"] == made["IdpCertificate"]


def test_change_of_half_a_stored_pair_is_refused(send: Ask) -> None:
    (certificate, key), (other, other_key) = (saml_certificates.generate(name, NOW) for name in ("own", "other"))
    own = {"Certificate": certificate, "Key": key}
    made = answered(send("POST", CLIENTS, {"AppName": "wiki", "IdpCertificate": own}))
    for half in ({"Certificate": other, "Key": MASKED}, {"Certificate": certificate, "Key": other_key}):
        assert refused(send("PUT", f"{CLIENTS}/wiki", {"IdpCertificate": half})) == (400, 7900), half
    assert answered(send("GET", f"{CLIENTS}/wiki")) == made


@pytest.mark.parametrize("case", ["no key", "no certificate", "other key", "no PEM", "broken key", "encrypted"])
def test_wrong_key_pair_is_refused(send: Ask, case: str) -> None:
    certificate, key = saml_certificates.generate("own", NOW)
    other = ec.generate_private_key(ec.SECP256R1())
    pem = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    pair = {
        "no key": {"Certificate": certificate},
        "no certificate": {"Key": key},
        "other key": {"Certificate": certificate, "Key": pem},
        "no PEM": {"Certificate": "MIIC", "Key": key},
        "broken key": {"Certificate": certificate, "Key": "key"},
        "encrypted": {"Certificate": certificate, "Key": key.replace("PRIVATE", "ENCRYPTED PRIVATE")},
    }[case]
    answer = send("POST", CLIENTS, {"AppName": "wiki", "IdpCertificate": pair})
    assert refused(answer) == (400, 7900)
    assert "IdpCertificate" in answer.get_json()["Description"]
    assert answered(send("GET", CLIENTS))["Data"] == []


def test_integration_fills_in_what_it_knows(send: Ask) -> None:
    listed = {item["IntegrationType"]: item for item in answered(send("GET", f"{CLIENTS}/integrations"))["Data"]}
    assert listed["Zendesk"]["Fields"] == ["IntegrationConfigs.AccountName"]
    answer = send("POST", CLIENTS, {"AppName": "help", "IntegrationType": "Zendesk"})
    assert refused(answer) == (400, 7900)
    assert "AccountName" in answer.get_json()["Description"]
    zendesk = {"AppName": "help", "IntegrationType": "Zendesk", "IntegrationConfigs": {"AccountName": "acme"}}
    made = answered(send("POST", CLIENTS, zendesk))
    assert made["IsPrebuiltIntegration"] is True
    assert made["AssertionConsumerService"]["Location"] == "https://acme.zendesk.com/access/saml"
    assert made["Audiences"] == ["acme.zendesk.com"]
    assert refused(send("POST", CLIENTS, {"AppName": "integrations"})) == (400, 7900)


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"AssertionConsumerService": {"Location": "http://wiki.example/acs"}}, "Location"),
        ({"AssertionConsumerService": {"Binding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"}}, "Binding"),
        ({"Attributes": {"mail": {"Value": "Shoe"}}}, "Attributes"),
        ({"SpCertificate": {"Certificate": "no certificate"}}, "SpCertificate"),
        ({"NameIdFormat": "x"}, "NameIdFormat"),
        ({"NotOnOrAfter": -1}, "NotOnOrAfter"),
        ({"RelayStateParameter": "SAMLResponse"}, "RelayStateParameter"),
        ({"SignAssertion": False}, "SignAssertion"),
        ({"EncryptAssertion": True}, "EncryptAssertion"),
    ],
)
def test_malformed_client_is_refused(send: Ask, members: dict[str, Any], named: str) -> None:
    answer = send("POST", CLIENTS, {"AppName": "wiki", **members})
    assert refused(answer) == (400, 7900)
    assert named in answer.get_json()["Description"]


def test_provider_has_the_addresses_of_the_tenant(send: Ask, tenant: TenantServer) -> None:
    certificate, _ = saml_certificates.generate("partner", NOW)
    body = {
        "Provider": "partner", "DataMap": {"ID": "NameID", "Email": "mail"}, "Domain": "partner.example",
        "IdentityProvider": {"Location": "https://partner.example/sso"}, "IdpCertificate": {"Certificate": certificate},
    }  # fmt: skip
    made = answered(send("POST", PROVIDERS, body))
    base = tenant.services.settings.hub_url(tenant.name)
    assert made["ServiceProviderACSUrl"] == f"{base}/saml/serviceprovider/SpInitiatedACS.aspx"
    assert (made["SamlServiceProvider"], made["AppId"], made["IsDeleted"]) == (base, tenant.tenant_id, False)
    assert (made["IdpCertificate"]["Certificate"], made["IdpCertificate"]["Key"]) == (certificate, None)
    renewed = answered(send("POST", f"{PROVIDERS}/partner/renew-certificate"))
    assert renewed["SpCertificate"] != made["SpCertificate"]
    assert renewed["FormerCertificate"] == made["SpCertificate"]
    changed = {"SpCertificate": 0, "FormerCertificate": 0, "LastModifiedDate": 0}
    assert {**renewed, **changed} == {**made, **changed}
    assert refused(send("POST", PROVIDERS, {**body, "Provider": "other"})) == (409, 8038)
    assert refused(send("POST", PROVIDERS, body)) == (409, 7939)
    assert "PhoneId" in answered(send("GET", f"{PROVIDERS}/keys"))["Data"]


def test_unknown_saml_apps_are_refused(send: Ask) -> None:
    for path in (f"{CLIENTS}/none", f"{PROVIDERS}/none"):
        assert refused(send("GET", path)) == (404, 7938)
        assert refused(send("DELETE", path)) == (404, 7938)
        assert refused(send("POST", f"{path}/renew-certificate")) == (404, 7938)


def test_unusable_key_of_an_identity_provider_is_refused(send: Ask) -> None:
    certificate, key = saml_certificates.generate("idp", NOW)
    _, other = saml_certificates.generate("other", NOW)
    pairs: list[dict[str, str]] = [
        {"Key": "no key"}, {"Certificate": certificate, "Key": "%%"}, {"Certificate": certificate, "Key": other},
    ]  # fmt: skip
    for pair in pairs:
        assert refused(send("POST", PROVIDERS, {"Provider": "partner", "IdpCertificate": pair})) == (400, 7900), pair
    made = answered(send("POST", PROVIDERS, {"Provider": "partner", "IdpCertificate": {"Key": key}}))
    for pair in pairs:
        assert refused(send("PUT", f"{PROVIDERS}/partner", {"IdpCertificate": pair})) == (400, 7900), pair
    assert answered(send("GET", f"{PROVIDERS}/partner")) == made


def test_provider_has_a_number_of_its_tenant(send: Ask) -> None:
    first, second = (answered(send("POST", PROVIDERS, {"Provider": name})) for name in ("a", "b"))
    assert isinstance(first["AppID"], int)
    assert 0 < first["AppID"] < 2**31
    assert (first["AppID"], first["AppId"]) == (second["AppID"], second["AppId"])
