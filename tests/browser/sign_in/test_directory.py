"""People of a directory in Chromium, with and without scripts: sign in from an app, and change the password."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect
from werkzeug.test import Client as WsgiClient

from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.oauth.world import World
from tests.support.services import slapd
from tests.support.services.slapd import PASSWORD, Slapd
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

SHOP = "http://127.0.0.1:*/cb?**"
NEW = "Zebra-kettle-91"


@pytest.fixture(scope="module")
def directory() -> Iterator[Slapd]:
    with Slapd.running() as server:
        yield server


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer, directory: Slapd) -> TenantServer:
    tenant = new_tenant_server(identifier_first=True)
    provider = slapd.provider_of(directory, PasswordChange="ExtendedOperation")
    answered(ask(tenant, machine(tenant, "all"), "POST", "/v2/manage/custom-providers/ldap", provider))
    return tenant


@pytest.fixture
def world(tenant: TenantServer, identity_app: Any) -> World:
    return World(tenant.services, WsgiClient(identity_app), tenant.tenant_id, tenant.name, tenant.api_key)


@pytest.mark.parametrize("has_script", [True, False])
def test_person_signs_in_and_changes_the_password(
    world: World, served: str, opened: Opened, directory: Slapd, has_script: bool
) -> None:
    name = f"browser{secrets.token_hex(3)}"
    directory.add_person(name, given_name="Grace")
    page = opened(java_script_enabled=has_script)
    shop = the_shop(world, served)
    page.goto(sign_in_address(served, shop))
    page.locator("[name=identifier]").fill(f"{name}@corp.test")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Enter your password")
    page.get_by_label("Password", exact=True).fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Wrong email or password.")).to_be_visible()
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(SHOP)

    page.goto(f"{served}/change-password")
    page.get_by_label("Current password", exact=True).fill(PASSWORD)
    page.get_by_label("New password", exact=True).fill(NEW)
    page.get_by_role("button", name="Save password").click()
    page.wait_for_url("**/security?done=password")

    other = opened(java_script_enabled=has_script)
    other.goto(sign_in_address(served, shop))
    other.locator("[name=identifier]").fill(f"{name}@corp.test")
    other.get_by_role("button", name="Continue").click()
    other.get_by_label("Password", exact=True).fill(NEW)
    other.get_by_role("button", name="Sign in").click()
    other.wait_for_url(SHOP)
