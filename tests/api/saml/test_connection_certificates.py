"""The certificates of Gatehouse for a SAML connection change without a gap, and its metadata says which are current and next."""

from __future__ import annotations

from typing import Any

import pytest
from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser
from saml2.mdstore import InMemoryMetaData

from app.identity.authentication.federation.saml import organization_saml, sp_metadata
from app.identity.directory.organizations.connections import organization_connection_store, sp_keys
from app.identity.platform import audit
from app.identity.platform.saml.metadata_reader import read_metadata
from tests.support.organizations.connections import OIDC, certificate
from tests.support.organizations.management import PATH, Business, a_business
from tests.support.races import at_once
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

CHANGES = (
    ("POST", "renew-certificate"), ("POST", "next-certificate"), ("POST", "activate-certificate"), ("DELETE", "next-certificate"),
    ("DELETE", "former-certificate"),
)  # fmt: skip
EVENT = "organization.connection_"


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


def connected(business: Business, **members: Any) -> str:
    """Create a SAML connection and return its path."""
    body = {
        "Name": "okta", "ConnectionType": "saml_okta", "IDPEntityId": "https://okta.example", "IDPCertificate": certificate(),
        "IDPSignInUrl": "https://okta.example/sso", **members,
    }  # fmt: skip
    path = f"{PATH}/{business.org}/connections"
    return f"{path}/{answered(business.send('POST', path, body))['Id']}"


def change(business: Business, path: str, end: str, method: str = "POST") -> tuple[str, str | None, str | None]:
    return certificates(answered(business.send(method, f"{path}/{end}")))


def certificates(shown: dict[str, Any]) -> tuple[str, str | None, str | None]:
    found = [shown.get(name, {}).get("Certificate") for name in ("NextCertificate", "FormerCertificate")]
    return shown["SPCertificate"]["Certificate"], found[0], found[1]


def metadata(business: Business, path: str) -> bytes:
    with call_of(business.tenant.services, business.tenant.name) as context:
        record = organization_connection_store.by_any_id(context, path.rpartition("/")[2])
        assert record is not None
        return sp_metadata.of_address(context, record.address_key)


def published(business: Business, path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the certificates for signatures and for encryption in the metadata."""
    role = read_metadata(metadata(business, path), business.tenant.services.clock.now()).service_provider
    assert role is not None
    return role.signing_certificates, role.encryption_certificates


def events(business: Business) -> list[str]:
    with call_of(business.tenant.services, business.tenant.name) as context:
        return [row.event.removeprefix(EVENT) for row in audit.latest(context.work, 50)]


@pytest.mark.both_databases
def test_next_certificate_is_published_then_activated(business: Business) -> None:
    path = connected(business)
    first = certificates(answered(business.send("GET", path)))[0]
    assert published(business, path) == ((first,), (first,))
    _, second, _ = change(business, path, "next-certificate")
    assert second is not None
    assert change(business, path, "next-certificate") == (first, second, None)
    assert published(business, path) == ((first, second), (first,)), "nobody encrypts for the next one yet"
    assert change(business, path, "activate-certificate") == (second, None, first)
    assert published(business, path) == ((second, first), (second,))
    assert change(business, path, "former-certificate", "DELETE") == (second, None, None)
    assert published(business, path) == ((second,), (second,))
    happened = [
        "former_certificate_deleted",
        "certificate_activated",
        "next_certificate_created",
        "created",
    ]
    assert [event for event in events(business) if event in happened] == happened


def test_current_and_former_key_alone_decrypt(business: Business) -> None:
    path = connected(business)

    def keys() -> tuple[list[str], list[int]]:
        with call_of(business.tenant.services, business.tenant.name) as context:
            record = organization_connection_store.by_any_id(context, path.rpartition("/")[2])
            assert record is not None
            stored, used = sp_keys.of_connection(context, record), organization_saml.provider_of(context, record)
            numbers = [key.private_numbers().p for key in used.decryption.keys]
            assert stored.current is not None
            assert used.signing_key.certificate == stored.current.certificate
            held = [name for name in ("current", "next", "former") if getattr(stored, name) is not None]
            return held, numbers

    held, (first,) = keys()
    assert held == ["current"]
    change(business, path, "next-certificate")
    assert keys() == (["current", "next"], [first])
    change(business, path, "activate-certificate")
    held, (second, *former) = keys()
    assert (held, former) == (["current", "former"], [first])
    change(business, path, "next-certificate")
    assert keys() == (["current", "next", "former"], [second, first])
    change(business, path, "activate-certificate")
    held, (third, *former) = keys()
    assert former == [second], "no key from before"
    assert third not in (first, second)


@pytest.mark.both_databases
def test_concurrent_requests_make_one_next_certificate(business: Business) -> None:
    path = connected(business)
    found = at_once([lambda: change(business, path, "next-certificate")] * 4)
    assert len(set(found)) == 1
    assert events(business).count("next_certificate_created") == 1
    statuses = at_once([lambda: business.send("POST", f"{path}/activate-certificate").status_code] * 4)
    assert sorted(statuses) == [200, 400, 400, 400]


def test_renewal_keeps_the_former_certificate(business: Business) -> None:
    path = connected(business)
    first = certificates(answered(business.send("GET", path)))[0]
    second, ahead, former = change(business, path, "renew-certificate")
    assert (ahead, former) == (None, first)
    assert second != first
    _, third, _ = change(business, path, "next-certificate")
    assert change(business, path, "renew-certificate") == (third, None, second)


def test_deleted_next_certificate_is_published_no_more(business: Business) -> None:
    path = connected(business)
    first, second, _ = change(business, path, "next-certificate")
    assert change(business, path, "next-certificate", "DELETE") == (first, None, None)
    assert published(business, path) == ((first,), (first,))
    assert refused(business.send("POST", f"{path}/activate-certificate")) == (400, 7900)
    assert change(business, path, "next-certificate")[1] not in (first, second)


def test_change_of_the_connection_keeps_its_certificates(business: Business) -> None:
    path = connected(business)
    for end in ("next-certificate", "activate-certificate", "next-certificate"):
        before = change(business, path, end)
    changed = answered(business.send("PUT", path, {"Name": "other", "IDPCertificate": certificate()}))
    assert certificates(changed) == before
    answered(business.send("PUT", f"{path}/status", {"Active": False}))
    assert change(business, path, "activate-certificate")[0] == before[1]


def test_connection_without_certificates_is_refused(business: Business) -> None:
    path = f"{PATH}/{business.org}/connections"
    made = answered(business.send("POST", path, OIDC))
    for method, end in CHANGES:
        assert refused(business.send(method, f"{path}/{made['Id']}/{end}")) == (400, 7900), end
    assert refused(business.send("POST", f"{connected(business)}/activate-certificate")) == (400, 7900)


def test_connection_of_another_organization_stays(business: Business, new_tenant_server: NewTenantServer) -> None:
    path = connected(business)
    before = answered(business.send("GET", path))
    foreign = a_business(new_tenant_server)
    own_organization = path.replace(business.org, foreign.org)
    for method, end in CHANGES:
        assert refused(foreign.send(method, f"{path}/{end}"))[0] == 404
        assert refused(foreign.send(method, f"{own_organization}/{end}")) == (400, 8151)
    assert answered(business.send("GET", path)) == before


def test_no_private_key_leaves_the_service(business: Business) -> None:
    path = connected(business)
    texts = [business.send("POST", f"{path}/{end}").text for end in ("next-certificate", "activate-certificate")]
    texts += [business.send("POST", f"{path}/next-certificate").text, business.send("GET", path).text]
    texts += [metadata(business, path).decode(), business.send("GET", f"{PATH}/{business.org}").text]
    with call_of(business.tenant.services, business.tenant.name) as context:
        record = organization_connection_store.by_any_id(context, path.rpartition("/")[2])
        assert record is not None
        texts += [str(record.content), repr(sp_keys.of_connection(context, record))]
        texts += [str(row.facts) for row in audit.latest(context.work, 50)]
        secrets = organization_connection_store.secrets_of(context, record)
    assert sorted(secrets) == ["former_sp_key", "next_sp_key", "sp_key"]
    lines = [line for key in secrets.values() for line in key.splitlines()[1:-1]]
    assert [line for line in lines for text in texts if line in text] == []


def test_libraries_read_both_certificates(business: Business) -> None:
    path = connected(business)
    first, second, _ = change(business, path, "next-certificate")
    assert second is not None
    text = metadata(business, path).decode()
    store = InMemoryMetaData(None, text)
    store.parse(text)
    (entity,) = store.keys()
    signing = [bare(one) for _, one in store.certs(entity, "spsso", "signing")]
    assert (signing, [bare(one) for _, one in store.certs(entity, "spsso", "encryption")]) == (
        [bare(first), bare(second)],
        [bare(first)],
    )
    assert 'cacheDuration="PT6H"' in text
    assert "validUntil" not in text
    assert OneLogin_Saml2_IdPMetadataParser.parse(text) == {}, "no identity provider"


def bare(text: str) -> str:
    return "".join(line for line in text.split() if not line.startswith(("-----", "CERTIFICATE")))
