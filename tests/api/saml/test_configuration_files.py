"""SAML clients and SAML custom providers in configuration files: certificates are generated where the file has no key pair."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.contract.saml.saml_operations import CLIENTS, PROVIDERS
from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.export import export
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.configuration.plan import ChangePlan
from app.identity.administration.resource_operations.resource_registry import store_of
from app.identity.directory.tenants import tenant_writes
from app.identity.platform import saml_certificates, saml_key_rollover
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.saml_key_rollover import KeySlots, OwnKeys
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.resources.resource import Resource

pytestmark = pytest.mark.parametrize("own_database", ["sqlite"], indirect=True)
CLIENT = {"app_name": "wiki", "attributes": {"email": {"value": "Email"}}}
PROVIDER = {"provider": "partner", "data_map": {"Email": "mail"}}


def applied(services: IdentityServices, name: str = "acme", **tenant: Any) -> ChangePlan:
    text = yaml.safe_dump({"tenants": [{"name": name, **tenant}]})
    return apply_configuration.apply(services, read(text.encode(), "f.yaml", Path()))


def stored(services: IdentityServices, resource: Resource, name: str = "acme") -> Item:
    work = UnitOfWork(services.database, "lookup")
    try:
        existing = tenant_writes.by_name(work, name)
        assert existing is not None
        work.switch_tenant(existing.tenant_id)
        (item,) = store_of(resource).items(StoreAccess(work, services.encryption, services.clock.now()), resource)
        return item
    finally:
        work.rollback()


def exported(services: IdentityServices) -> dict[str, Any]:
    (tenant,) = yaml.safe_load(export(services, "acme"))["tenants"]
    return {key: tenant[key] for key in ("saml_clients", "saml_providers") if key in tenant}


def test_certificates_are_generated_once(own_services: IdentityServices) -> None:
    file: dict[str, Any] = {"saml_clients": [CLIENT], "saml_providers": [PROVIDER]}
    applied(own_services, **file)
    client, provider = stored(own_services, CLIENTS), stored(own_services, PROVIDERS)
    pair, own = client.content["idp_certificate"]["certificate"], provider.content["sp_certificate"]["certificate"]
    assert saml_certificates.problem_of(pair, client.secrets["idp_certificate.key"]) == ""
    assert saml_certificates.problem_of(own, provider.secrets["sp_certificate.key"]) == ""
    assert client.content["integration_configs"]["idp_sha1_fingerprint"] == saml_certificates.sha1_fingerprint(pair)
    assert provider.content["id"]
    assert applied(own_services, **file).is_empty
    applied(own_services, saml_clients=[{**CLIENT, "login_url": "https://wiki.example/"}], saml_providers=[PROVIDER])
    assert stored(own_services, CLIENTS).content["idp_certificate"]["certificate"] == pair
    assert (stored(own_services, PROVIDERS).content, stored(own_services, PROVIDERS).secrets) == (
        provider.content,
        provider.secrets,
    )


def test_export_has_the_certificate_without_its_key(own_services: IdentityServices) -> None:
    applied(own_services, saml_clients=[CLIENT], saml_providers=[PROVIDER])
    file, client = exported(own_services), stored(own_services, CLIENTS)
    assert file["saml_clients"] == [
        {**CLIENT, "idp_certificate": {"certificate": client.content["idp_certificate"]["certificate"]}}
    ]
    assert file["saml_providers"] == [PROVIDER], "without what the service generated"
    assert applied(own_services, **file).is_empty
    applied(own_services, "globex", **file)
    other = stored(own_services, CLIENTS, "globex")
    assert other.content["idp_certificate"] != client.content["idp_certificate"], "no key, so a pair of its own"
    assert applied(own_services, "globex", **file).is_empty
    applied(
        own_services,
        "initech",
        saml_clients=[{**file["saml_clients"][0], "key": client.secrets["idp_certificate.key"]}],
    )
    third = stored(own_services, CLIENTS, "initech")
    assert (third.content, third.secrets) == (client.content, client.secrets)


def test_key_pair_of_a_file_replaces_the_present_one(own_services: IdentityServices) -> None:
    applied(own_services, saml_clients=[CLIENT])
    certificate, key = saml_certificates.generate("own", datetime(2026, 1, 1, tzinfo=UTC))
    file = {**CLIENT, "idp_certificate": {"certificate": certificate}, "key": key}
    assert "secrets: changed" in str(applied(own_services, saml_clients=[file]))
    client = stored(own_services, CLIENTS)
    assert (client.content["idp_certificate"], client.secrets) == (
        file["idp_certificate"],
        {"idp_certificate.key": key},
    )
    assert applied(own_services, saml_clients=[file]).is_empty
    assert key not in export(own_services, "acme")


@pytest.mark.parametrize(
    ("clients", "expected"),
    [
        ({**CLIENT, "idp_certificate": {"certificate": "none"}, "key": "k"}, "idp_certificate.certificate: expected an X.509"),
        ({**CLIENT, "key": "k"}, "idp_certificate.certificate: expected an X.509"),
        ({**CLIENT, "integration_configs": {"idp_sha1_fingerprint": "x"}}, "idp_sha1_fingerprint: isn't a known key"),
        ({**CLIENT, "attributes": {"email": {"Value": "Email"}}}, "Value: isn't a known key"),
        ({**CLIENT, "attributes": {"email": {"value": "Shoe"}}}, "attributes: expected a field of the profile"),
    ],
)  # fmt: skip
def test_invalid_client_of_a_file_is_refused(own_services: IdentityServices, clients: Any, expected: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"saml_clients\[0\]\.(.+\.)?{re.escape(expected)}"):
        applied(own_services, saml_clients=[clients])


def provider(name: str, domain: str) -> dict[str, Any]:
    return {"provider": name, "data_map": {"Email": "mail"}, "domain": domain}


def test_domain_of_two_providers_of_a_file_is_refused(own_services: IdentityServices) -> None:
    providers = [provider(name, "partner.example") for name in ("partner", "other")]
    with pytest.raises(ConfigurationError, match=r"saml_providers\[1\]\.domain: is already used; see line \d+"):
        applied(own_services, saml_providers=providers)


def test_domain_of_a_stored_provider_is_refused(own_services: IdentityServices) -> None:
    applied(own_services, saml_providers=[provider("partner", "partner.example")])
    problem = r"saml_providers\[0\]\.domain: is already used by partner, which isn't in the file"
    with pytest.raises(ConfigurationError, match=problem):
        applied(own_services, saml_providers=[provider("other", "partner.example")])
    applied(
        own_services,
        saml_providers=[provider("partner", "moved.example"), provider("other", "partner.example")],
    )
    assert {item["domain"] for item in exported(own_services)["saml_providers"]} == {"moved.example", "partner.example"}


def with_three_keys(services: IdentityServices, resource: Resource, slots: KeySlots) -> Item:
    """Give the stored item a current, a next and a former key, as the operations do, and return it."""
    work = UnitOfWork(services.database, "lookup")
    existing = tenant_writes.by_name(work, "acme")
    assert existing is not None
    work.rollback()
    item, work = stored(services, resource), UnitOfWork(services.database, existing.tenant_id)
    now = services.clock.now()
    current, ahead, former = (saml_key_rollover.generated(name, now) for name in ("current", "next", "former"))
    content, secrets = slots.write(OwnKeys(current, ahead, former), item.content, item.secrets)
    work.begin()
    store_of(resource).change(
        StoreAccess(work, services.encryption, now), resource, replace(item, content=content, secrets=secrets)
    )
    work.commit()
    return stored(services, resource)


def test_earlier_file_keeps_the_certificates_of_now(own_services: IdentityServices) -> None:
    applied(own_services, saml_clients=[CLIENT], saml_providers=[PROVIDER])
    earlier = exported(own_services)
    client = with_three_keys(own_services, CLIENTS, saml_key_rollover.CLIENT_KEYS)
    provider = with_three_keys(own_services, PROVIDERS, saml_key_rollover.PROVIDER_KEYS)
    assert len(client.secrets) == len(provider.secrets) == 3
    for file in (
        earlier,
        {
            "saml_clients": [{**CLIENT, "login_url": "https://wiki.example/"}],
            "saml_providers": [{**PROVIDER, "is_active": False}],
        },
    ):
        plan = str(applied(own_services, **file))
        assert "PRIVATE KEY" not in plan
        for before, slots, now in (
            (client, saml_key_rollover.CLIENT_KEYS, stored(own_services, CLIENTS)),
            (provider, saml_key_rollover.PROVIDER_KEYS, stored(own_services, PROVIDERS)),
        ):
            assert slots.read(now.content, now.secrets) == slots.read(before.content, before.secrets)
            assert now.secrets == before.secrets
    text = export(own_services, "acme")
    assert "PRIVATE KEY" not in text
    assert "next_certificate" not in text
    assert "former_certificate" not in text


def test_file_cannot_state_a_next_certificate(own_services: IdentityServices) -> None:
    forged = {"certificate": saml_certificates.generate("forged", datetime(2026, 1, 1, tzinfo=UTC))[0]}
    for member in ("next_certificate", "former_certificate"):
        with pytest.raises(ConfigurationError):
            applied(own_services, saml_clients=[{**CLIENT, member: forged}])
        with pytest.raises(ConfigurationError):
            applied(own_services, saml_providers=[{**PROVIDER, member: forged}])
