"""The certificates that sign for SAML clients and SAML providers change without a gap: next, current, former."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from app.contract.saml.saml_operations import CLIENTS, PROVIDERS
from app.identity.platform import audit, saml_certificates
from app.identity.platform.resource_storage.items import StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from tests.support.races import at_once
from tests.support.tenants.callers import call_of
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

AT_CLIENTS, AT_PROVIDERS = "/v2/manage/saml-clients", "/v2/manage/custom-providers/saml"
KINDS = {AT_CLIENTS: ("AppName", "IdpCertificate", CLIENTS), AT_PROVIDERS: ("Provider", "SpCertificate", PROVIDERS)}
NOW = datetime.now(UTC)
Ask = Callable[..., Any]
NONE = {"Certificate": None}


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server()


@pytest.fixture
def send(tenant: TenantServer) -> Ask:
    return sender(tenant)


def sender(tenant: TenantServer) -> Ask:
    scopes = [f"{item}:{action}" for item in ("client", "provider") for action in ("read", "create", "update")]
    token = machine(tenant, *scopes, "all")
    return lambda method, path, body=None: ask(
        tenant, token, method, path, {} if body is None and method == "POST" else body
    )


def stored_secrets(tenant: TenantServer, path: str) -> dict[str, str]:
    with call_of(tenant.services, tenant.name) as context:
        item = SHARED_TABLE.item(StoreAccess.of(context), KINDS[path][2], ("wiki",))
        assert item is not None
        return item.secrets


def certificates(made: dict[str, Any], member: str) -> tuple[str | None, str | None, str | None]:
    return (
        made[member]["Certificate"],
        made["NextCertificate"]["Certificate"],
        made["FormerCertificate"]["Certificate"],
    )


@pytest.mark.parametrize("path", KINDS)
def test_next_certificate_is_activated_and_former_deleted(tenant: TenantServer, send: Ask, path: str) -> None:
    name, member, _ = KINDS[path]
    made = answered(send("POST", path, {name: "wiki"}))
    first = made[member]["Certificate"]
    assert certificates(made, member) == (first, None, None)
    ahead = answered(send("POST", f"{path}/wiki/next-certificate"))
    second = ahead["NextCertificate"]["Certificate"]
    assert certificates(ahead, member) == (first, second, None)
    assert second != first
    assert answered(send("POST", f"{path}/wiki/next-certificate")) == ahead, "there is one already"
    active = answered(send("POST", f"{path}/wiki/activate-certificate"))
    assert certificates(active, member) == (second, None, first)
    assert answered(send("GET", f"{path}/wiki")) == active
    last = answered(send("DELETE", f"{path}/wiki/former-certificate"))
    assert certificates(last, member) == (second, None, None)
    secrets = stored_secrets(tenant, path)
    assert list(secrets) == [f"{'idp' if path == AT_CLIENTS else 'sp'}_certificate.key"]
    assert saml_certificates.problem_of(second, *secrets.values()) == ""


@pytest.mark.parametrize("path", KINDS)
def test_activation_needs_a_next_certificate(send: Ask, path: str) -> None:
    name, member, _ = KINDS[path]
    made = answered(send("POST", path, {name: "wiki"}))
    assert refused(send("POST", f"{path}/wiki/activate-certificate")) == (400, 7900)
    answered(send("POST", f"{path}/wiki/next-certificate"))
    assert answered(send("DELETE", f"{path}/wiki/next-certificate"))["NextCertificate"] == NONE
    assert refused(send("POST", f"{path}/wiki/activate-certificate")) == (400, 7900)
    assert answered(send("GET", f"{path}/wiki"))[member] == made[member]


@pytest.mark.parametrize("path", KINDS)
def test_renewal_activates_the_published_certificate(send: Ask, path: str) -> None:
    name, member, _ = KINDS[path]
    first = answered(send("POST", path, {name: "wiki"}))[member]["Certificate"]
    second = answered(send("POST", f"{path}/wiki/next-certificate"))["NextCertificate"]["Certificate"]
    renewed = answered(send("POST", f"{path}/wiki/renew-certificate"))
    assert certificates(renewed, member) == (second, None, first)
    again = answered(send("POST", f"{path}/wiki/renew-certificate"))
    assert certificates(again, member) == (again[member]["Certificate"], None, second)
    assert again[member]["Certificate"] not in (first, second)


@pytest.mark.parametrize("path", KINDS)
@pytest.mark.parametrize("end", ["next-certificate", "activate-certificate"])
@pytest.mark.both_databases
def test_two_requests_at_once_make_one_change(tenant: TenantServer, send: Ask, path: str, end: str) -> None:
    name, member, _ = KINDS[path]
    first = answered(send("POST", path, {name: "wiki"}))[member]["Certificate"]
    if end == "activate-certificate":
        answered(send("POST", f"{path}/wiki/next-certificate"))
    statuses = sorted(answer.status_code for answer in at_once([lambda: send("POST", f"{path}/wiki/{end}")] * 3))
    found = certificates(answered(send("GET", f"{path}/wiki")), member)
    if end == "next-certificate":
        assert statuses == [200, 200, 200]
        assert (found[0], found[2]) == (first, None)
    else:
        assert statuses == [200, 400, 400]
        assert found[1:] == (None, first)
    events = [row.event for row in audited(tenant)]
    assert len([event for event in events if event.endswith("_certificate") and "activate" in event]) == (
        end == "activate-certificate"
    )
    assert len([event for event in events if event.endswith(".create_next_certificate")]) == 1


def audited(tenant: TenantServer) -> list[Any]:
    with call_of(tenant.services, tenant.name) as context:
        return list(audit.latest(context.work, 50))


@pytest.mark.parametrize("path", KINDS)
def test_changes_keep_the_other_certificates(send: Ask, path: str) -> None:
    name, member, _ = KINDS[path]
    answered(send("POST", path, {name: "wiki"}))
    for end in ("next-certificate", "activate-certificate", "next-certificate"):
        before = answered(send("POST", f"{path}/wiki/{end}"))
    forged = {"Certificate": saml_certificates.generate("forged", NOW)[0]}
    changed = answered(send("PUT", f"{path}/wiki", {"IsActive": False}))
    assert certificates(changed, member) == certificates(before, member)
    send("PUT", f"{path}/wiki", {"IsActive": True, "NextCertificate": forged, "FormerCertificate": forged})
    assert certificates(answered(send("GET", f"{path}/wiki")), member) == certificates(before, member)


@pytest.mark.parametrize("path", KINDS)
def test_no_private_key_is_in_an_answer_or_audit(tenant: TenantServer, send: Ask, path: str) -> None:
    name, _, _ = KINDS[path]
    texts = [send("POST", path, {name: "wiki"}).text]
    ends = ("next-certificate", "activate-certificate", "next-certificate")
    texts += [send("POST", f"{path}/wiki/{end}").text for end in ends]
    texts += [send("GET", f"{path}/wiki").text, send("GET", path).text]
    keys = [line for key in stored_secrets(tenant, path).values() for line in key.splitlines()[1:-1]]
    assert len(keys) > 90, "three keys"
    texts += [str(row.facts) for row in audited(tenant)]
    assert [key for key in keys for text in texts if key in text] == []
    assert not any("PRIVATE KEY" in text for text in texts)


@pytest.mark.parametrize("path", KINDS)
def test_certificates_of_another_tenant_stay(send: Ask, new_tenant_server: NewTenantServer, path: str) -> None:
    name, _, _ = KINDS[path]
    made = answered(send("POST", path, {name: "wiki"}))
    foreign = sender(new_tenant_server())
    for method, end in (
        ("POST", "renew-certificate"), ("POST", "next-certificate"), ("POST", "activate-certificate"),
        ("DELETE", "next-certificate"), ("DELETE", "former-certificate"),
    ):  # fmt: skip
        assert refused(foreign(method, f"{path}/wiki/{end}")) == (404, 7938), end
    assert answered(send("GET", f"{path}/wiki")) == made


def test_program_that_reads_clients_changes_no_certificate(tenant: TenantServer, send: Ask) -> None:
    answered(send("POST", AT_CLIENTS, {"AppName": "wiki"}))
    reader = machine(tenant, "client:read", "client:create", "provider:update")
    for end in ("next-certificate", "activate-certificate"):
        assert refused(ask(tenant, reader, "POST", f"{AT_CLIENTS}/wiki/{end}"))[0] == 403
    assert refused(ask(tenant, reader, "DELETE", f"{AT_CLIENTS}/wiki/next-certificate"))[0] == 403


def made_by_openssl(algorithm: str) -> dict[str, str]:
    """Return a pair whose certificate has a signature that the library no longer makes."""
    asked = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        algorithm,
        "-subj",
        "/CN=own",
        "-keyout",
        "-",
        "-out",
        "-",
    ]
    text = subprocess.run(asked, capture_output=True, check=True, text=True).stdout
    key, _, certificate = text.partition("-----BEGIN CERTIFICATE-----")
    return {"Certificate": f"-----BEGIN CERTIFICATE-----{certificate}", "Key": key}


def pair(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> dict[str, str]:
    """Return a self-signed certificate and its key as a request has them."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "own")])
    built = x509.CertificateBuilder(name, name, key.public_key(), 1, NOW, NOW + timedelta(days=30))
    certificate = built.sign(key, hashes.SHA256())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return {"Certificate": certificate.public_bytes(Encoding.PEM).decode(), "Key": private}


def test_next_certificate_may_be_an_own_one(send: Ask) -> None:
    first = answered(send("POST", AT_CLIENTS, {"AppName": "wiki"}))["IdpCertificate"]["Certificate"]
    own, other = pair(ec.generate_private_key(ec.SECP256R1())), pair(ec.generate_private_key(ec.SECP256R1()))
    ahead = answered(send("POST", f"{AT_CLIENTS}/wiki/next-certificate", own))
    assert certificates(ahead, "IdpCertificate") == (first, own["Certificate"], None)
    assert refused(send("POST", f"{AT_CLIENTS}/wiki/next-certificate", other)) == (400, 7900)
    active = answered(send("POST", f"{AT_CLIENTS}/wiki/activate-certificate"))
    assert certificates(active, "IdpCertificate") == (own["Certificate"], None, first)


WEAK = {
    "short": lambda: pair(rsa.generate_private_key(65_537, 1_024)),
    "SHA-1": lambda: made_by_openssl("-sha1"),
    "curve": lambda: pair(ec.generate_private_key(ec.SECP256K1())),
    "half": lambda: {"Certificate": pair(ec.generate_private_key(ec.SECP256R1()))["Certificate"]},
    "key": lambda: {"Key": pair(ec.generate_private_key(ec.SECP256R1()))["Key"]},
    "other key": lambda: {
        **pair(ec.generate_private_key(ec.SECP256R1())), "Key": pair(ec.generate_private_key(ec.SECP256R1()))["Key"],
    },
}  # fmt: skip


def test_current_openssl_pair_is_accepted(send: Ask) -> None:
    answered(send("POST", AT_CLIENTS, {"AppName": "wiki"}))
    own = made_by_openssl("-sha256")
    ahead = answered(send("POST", f"{AT_CLIENTS}/wiki/next-certificate", own))
    assert ahead["NextCertificate"]["Certificate"] == own["Certificate"]


@pytest.mark.parametrize("case", WEAK)
def test_weak_or_incomplete_own_pair_is_refused(send: Ask, case: str) -> None:
    made = answered(send("POST", AT_CLIENTS, {"AppName": "wiki"}))
    own = WEAK[case]()
    assert refused(send("POST", f"{AT_CLIENTS}/wiki/next-certificate", own)) == (400, 7900)
    assert refused(send("PUT", f"{AT_CLIENTS}/wiki", {"IdpCertificate": own})) == (400, 7900)
    assert answered(send("GET", f"{AT_CLIENTS}/wiki")) == made
