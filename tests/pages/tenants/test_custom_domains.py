"""A tenant's pages, its issuer, mails and passkeys at a custom domain."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update
from werkzeug.test import Client

from app.identity.directory.tenants.tables import tenants
from app.identity.directory.tenants.urls import custom_hosts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.credentials.software_authenticator import Authenticator
from tests.support.journeys.passkeys import sign_in_and_add_passkey, sign_in_by_passkey, sign_out
from tests.support.oauth.relying_party import Person, RelyingParty, claims_in
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import NewVisitorAt, Visitor


@dataclass
class AtDomain(RelyingParty):
    """An application that uses the custom domain."""

    home: str = ""

    @property
    def hub_url(self) -> str:
        return self.home


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(passkeys=True, passkey_settings={"progressive_enrollment": False})


@pytest.fixture
def domain(tenant: World) -> str:
    """A verified custom domain."""
    return tenant.add_custom_domain()


@pytest.fixture
def there(tenant: World, domain: str, hub_app: Flask) -> Visitor:
    """A browser at the custom domain."""
    return Visitor(PlainClient(hub_app), tenant.services.settings.custom_url(domain))


@pytest.fixture
def ada(tenant: World) -> Person:
    return tenant.person("ada@example.com")


def at_domain(app: RelyingParty, there: Visitor) -> AtDomain:
    return AtDomain(**vars(app), home=there.home)


def latest_link(tenant: World, person: Person) -> str:
    return link_in(mails_to(tenant.services, tenant.tenant_id, person.email)[-1])


@pytest.mark.both_databases
def test_application_signs_in_at_the_custom_domain(tenant: World, there: Visitor, ada: Person) -> None:
    app = at_domain(
        tenant.application("shop", scope="openid offline_access", grant_types=["authorization_code", "refresh_token"]),
        there,
    )
    metadata = app.get("/.well-known/openid-configuration").get_json()
    assert metadata["issuer"] == there.home
    assert all(
        str(value).startswith(there.home) for name, value in metadata.items() if name.endswith(("_endpoint", "_uri"))
    )
    landed = there.authorize(app, scope="openid offline_access").press(
        "Sign in", identifier=ada.email, password=ada.password
    )
    assert landed.query["iss"] == there.home
    tokens = app.redeem(landed.query["code"]).get_json()
    assert claims_in(tokens["id_token"])["iss"] == there.home
    assert app.refresh(tokens["refresh_token"]).status_code == 200


def test_id_token_of_the_custom_domain_is_a_hint_at_the_own_host(
    tenant: World, there: Visitor, ada: Person, new_visitor_at: NewVisitorAt
) -> None:
    app = tenant.application("shop")
    landed = there.authorize(at_domain(app, there)).press("Sign in", identifier=ada.email, password=ada.password)
    hint = at_domain(app, there).redeem(landed.query["code"]).get_json()["id_token"]
    own = new_visitor_at(tenant)
    assert own.authorize(app, id_token_hint=hint).is_sign_in
    assert own.authorize(app, id_token_hint=hint[:-4] + "AAAA").query["error"] == "invalid_request"


def test_account_pages_open_at_the_custom_domain(there: Visitor, ada: Person) -> None:
    page = there.open("/profile").press("Sign in", identifier=ada.email, password=ada.password)
    assert page.address == f"{there.home}/profile"
    assert page.status == 200


def test_mail_links_lead_to_the_domain_of_the_page(
    tenant: World, there: Visitor, ada: Person, new_visitor_at: NewVisitorAt
) -> None:
    there.open("/forgot-password").press("Send reset link", identifier=ada.email)
    assert latest_link(tenant, ada).startswith(f"{there.home}/r/")
    own = new_visitor_at(tenant)
    own.open("/forgot-password").press("Send reset link", identifier=ada.email)
    assert latest_link(tenant, ada).startswith(f"{own.home}/r/")


def test_mail_that_a_program_causes_leads_to_the_custom_domain(tenant: World, there: Visitor, ada: Person) -> None:
    base = tenant.services.settings.base_url
    sent = Client(tenant.wsgi.application).post(
        "/identity/v2/auth/password", query_string={"apikey": tenant.api_key}, json={"email": ada.email}, base_url=base
    )
    assert sent.status_code == 200, sent.text
    assert latest_link(tenant, ada).startswith(f"{there.home}/r/")


def test_passkey_of_the_own_host_works_at_the_custom_domain(
    tenant: World, there: Visitor, ada: Person, new_visitor_at: NewVisitorAt
) -> None:
    own = new_visitor_at(tenant)
    device = Authenticator(own.home)
    sign_in_and_add_passkey(own, ada, device)
    assert json.loads(own.open("/.well-known/webauthn").html) == {"origins": [own.home, there.home]}
    same = replace(device, origin=there.home)
    assert "code=" in sign_in_by_passkey(there, tenant, same).address
    sign_out(there)
    refused = sign_in_by_passkey(there, tenant, replace(device, origin="http://evil.example:8000"))
    assert refused.status == 403


def test_session_is_of_one_host(there: Visitor, ada: Person, tenant: World, hub_app: Flask) -> None:
    """The cookie names no domain, so a browser sends it to one host; there is no shared session to steal by a sibling domain."""
    there.open("/profile").press("Sign in", identifier=ada.email, password=ada.password)
    cookie: Any = there.cookie("session")
    assert cookie.origin_only


def test_unverified_domain_has_no_pages(tenant: World, there: Visitor, hub_app: Flask) -> None:
    outsider = Visitor(PlainClient(hub_app), tenant.services.settings.custom_url(f"www.{secrets.token_hex(5)}.example"))
    assert outsider.open("/login").status == 404


def test_own_custom_domain_is_an_allowed_return_address(there: Visitor, ada: Person) -> None:
    page = there.open(f"/auth.aspx?action=login&return_url={there.home}/security").press(
        "Sign in", identifier=ada.email, password=ada.password
    )
    assert page.address == f"{there.home}/security"


@pytest.mark.both_databases
def test_moved_domain_shows_its_new_tenant(
    tenant: World, there: Visitor, domain: str, new_world: NewWorld, hub_app: Flask
) -> None:
    """Both tenants are at the same version, so the hub must not take the number for a sign that nothing changed."""
    other = new_world()
    tenant.change_brand(display_name="Before")
    other.change_brand(display_name="After")
    assert "Before" in there.open("/login").html
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        custom_hosts.remove(work, domain)
    with UnitOfWork(other.services.database, other.tenant_id).separate_transaction() as work:
        custom_hosts.add(work, domain, other.services.clock.now())
        work.run(update(tenants).where(tenants.c.tenant_id == other.tenant_id).values(version=tenants.c.version + 1))
    tenant.services.directory.clear_cache()
    cached = hub_app.extensions["gatehouse"].tenancy._by_host[there.home.partition("://")[2]]
    cached.as_of = float("-inf")
    assert "After" in there.open("/login").html
