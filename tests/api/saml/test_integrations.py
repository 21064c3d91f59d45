"""Ready-made integrations: each one makes a client that signs people in, with the addresses that its product publishes."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from app.contract.saml import saml_operations
from app.contract.saml.saml_operations import SamlAttribute, SamlClient
from app.identity.administration.applications import saml_integrations
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

CLIENTS = "/v2/manage/saml-clients"
READY = [name for name in get_args(saml_operations.IntegrationType) if name != "Custom"]
GIVEN: dict[str, dict[str, Any]] = {
    "IntegrationConfigs.AccountName": {"IntegrationConfigs": {"AccountName": "acme"}},
    "IssuerUrl": {"IssuerUrl": "https://sp.example/entity"},
    "AssertionConsumerService": {"AssertionConsumerService": {"Location": "https://sp.example/acs"}},
}


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server()


def created(tenant: TenantServer, **members: Any) -> Any:
    return ask(tenant, machine(tenant, "client:create"), "POST", CLIENTS, {"AppName": "app", **members})


def test_every_type_has_a_file_and_is_listed(tenant: TenantServer) -> None:
    listed = answered(ask(tenant, machine(tenant, "client:read"), "GET", f"{CLIENTS}/integrations"))["Data"]
    assert [item["IntegrationType"] for item in listed] == ["Custom", *saml_integrations.presets()]
    assert set(READY) == set(saml_integrations.presets())


@pytest.mark.parametrize("name", READY)
def test_client_needs_the_listed_fields_alone(tenant: TenantServer, name: str) -> None:
    fields = saml_integrations.presets()[name].fields
    given: dict[str, Any] = {}
    for field in fields:
        assert refused(created(tenant, IntegrationType=name, **given)) == (400, 7900), field
        given |= GIVEN[field]
    made = answered(created(tenant, IntegrationType=name, **given))
    assert made["IsPrebuiltIntegration"] is True
    assert made["IssuerUrl"]
    assert made["AssertionConsumerService"]["Location"].startswith("https://")
    assert "{account" not in str(made)


@pytest.mark.parametrize("name", READY)
def test_settings_are_those_of_a_client(name: str) -> None:
    preset = saml_integrations.presets()[name]
    settings = {"app_name": "app", **preset.settings_of("acme")}
    client = SamlClient.model_validate(settings)
    assert client.name_id_format.endswith(("persistent", "emailAddress")) or name == "Grafana"  # whose requests choose
    assert all(isinstance(attribute, SamlAttribute) for attribute in client.attributes.values())
    assert all(address.startswith("https://") for address in preset.documentation)
    assert preset.documentation


def test_own_attributes_stay_beside_ready_made_ones(tenant: TenantServer) -> None:
    own = {"team": {"Value": "Company"}, "User.Email": {"Value": "UserName"}}
    given = GIVEN["IntegrationConfigs.AccountName"]
    made = answered(created(tenant, IntegrationType="Slack", Attributes=own, **given))
    assert {name: item["Value"] for name, item in made["Attributes"].items()} == {
        "User.Email": "UserName", "first_name": "FirstName", "last_name": "LastName", "team": "Company",
    }  # fmt: skip
    assert made["SignResponse"] is True
