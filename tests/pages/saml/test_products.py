"""Ready-made integrations against what their products publish: the client fits the metadata, and people sign in as the product asks."""

from __future__ import annotations

from typing import Any

import pytest
from lxml import etree

from app.identity.administration.applications import saml_integrations
from app.identity.platform.saml.expectations import SignedPart
from app.identity.platform.saml.metadata_reader import read_metadata
from tests.support.oauth.world import World
from tests.support.saml.products import PRODUCTS, UNSPECIFIED, Product
from tests.support.saml.service_provider import ServiceProvider, response_xml
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.visitor import Visitor

EACH = pytest.mark.parametrize("name", PRODUCTS)
CLIENTS = "/v2/manage/saml-clients"


def created(tenant: TenantServer, name: str) -> Any:
    """Create a client of the product with what its administrator enters."""
    body = {"AppName": "app", "IntegrationType": name, **PRODUCTS[name].members}
    return answered(ask(tenant, machine(tenant, "client:create"), "POST", CLIENTS, body))


def test_every_integration_has_facts_of_its_product() -> None:
    assert set(PRODUCTS) == set(saml_integrations.presets())


@EACH
def test_client_fits_the_metadata_of_the_product(tenant: TenantServer, name: str) -> None:
    role = read_metadata(PRODUCTS[name].metadata, tenant.services.clock.now()).service_provider
    assert role is not None
    client = created(tenant, name)
    assert client["IssuerUrl"] == PRODUCTS[name].entity_id
    assert (
        client["AssertionConsumerService"]["Location"] == next(one for one in role.services if one.is_default).location
    )
    assert client["SpLogoutUrl"] == (role.logout_services[0].location if role.logout_services else None)
    assert client["NameIdFormat"] in {*role.name_id_formats, UNSPECIFIED}


@EACH
def test_person_signs_in_as_the_product_asks(tenant: TenantServer, world: World, visitor: Visitor, name: str) -> None:
    product, ada = (
        PRODUCTS[name],
        world.person("ada@example.test", FirstName="Ada", LastName="Lovelace", FullName="Ada L"),
    )
    created(tenant, name)
    provider = ServiceProvider(tenant, "app", product.entity_id, product.acs_url)
    page = provider.open(visitor, name_id_format=product.requested).press(
        "Sign in", identifier=ada.email, password=ada.password
    )
    part = SignedPart.BOTH if product.demands_signed_response else SignedPart.ASSERTION
    accepted = provider.accept(visitor, page, audience=product.audience or product.entity_id, signed_part=part)
    assert accepted.name_id.name_format in format_of(product)
    assert set(product.attributes) <= set(accepted.attributes)
    assert etree.fromstring(response_xml(page)).get("Destination") == product.acs_url


def format_of(product: Product) -> set[str]:
    """Return the formats that the product takes: the one that it asks for, if it names one."""
    is_open = product.requested in {"", UNSPECIFIED}
    return set(product.formats) if is_open else {product.requested}
