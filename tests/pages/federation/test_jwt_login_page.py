"""The login page of a JWT provider: pages lead there, and a JWT continues the request that waited."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from werkzeug.test import Client as WsgiClient

from app.identity.authentication.federation import federated_sign_in
from app.identity.platform.services import IdentityServices
from tests.support.accounts.mailbox import code_in, mails_to
from tests.support.fakes.native_apps import jwt_sender
from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import World
from tests.support.services.identity_service import pass_time
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

ADA = "ada@example.test"
PAGE = "https://portal.example/in?tenant=7"
BUTTON = "Continue with Partner"
LED = {"LoginUrl": PAGE, "Domain": "example.test"}


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer, monkeypatch: pytest.MonkeyPatch) -> TenantServer:
    monkeypatch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
    return new_tenant_server(identifier_first=True)


@pytest.fixture
def world(tenant: TenantServer, identity_app: Any) -> World:
    return World(tenant.services, WsgiClient(identity_app), tenant.tenant_id, tenant.name, tenant.api_key)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person(ADA)


@pytest.fixture
def shop(world: World) -> RelyingParty:
    return world.application("shop", client_name="Shop")


def brings(visitor: Visitor, token: str, **query: str) -> VisitedPage:
    return visitor.open(f"/access/jwt?{urlencode({'jwttoken': token, **query})}")


def is_refused(page: VisitedPage) -> bool:
    return "/access/jwt/error" in page.address


def test_button_leads_to_the_login_page(tenant: TenantServer, visitor: Visitor) -> None:
    assert BUTTON not in visitor.open("/login").text
    jwt_sender(tenant, LoginUrl=PAGE)
    assert visitor.open("/login").follow(BUTTON).address == PAGE


def test_provider_without_login_page_has_no_button(tenant: TenantServer, visitor: Visitor) -> None:
    jwt_sender(tenant)
    assert BUTTON not in visitor.open("/login").text
    assert visitor.open("/sign-in/with?provider=jwt:partner").status == 403


def test_unlisted_login_page_has_no_button(tenant: TenantServer, visitor: Visitor) -> None:
    jwt_sender(tenant, **LED, EnableAutoLookUp=True, ListInInterface=False)
    page = visitor.open("/login")
    assert BUTTON not in page.text
    assert page.press("Continue", identifier=ADA).address == PAGE, "the domain still leads there"


@pytest.mark.parametrize("leads", [True, False])
def test_domain_leads_to_the_login_page(tenant: TenantServer, visitor: Visitor, *, leads: bool) -> None:
    jwt_sender(tenant, **LED, EnableAutoLookUp=leads)
    page = visitor.open("/login").press("Continue", identifier=ADA)
    assert (page.address == PAGE) is leads
    assert answered(tenant.send("GET", "/ciam/appinfo"))["IsAutoLookUpEnabled"] is leads


@pytest.mark.parametrize(
    "hint", [{"domain_hint": "example.test"}, {"login_hint": ADA}, {"connection": "jwt:Partner"}], ids=str
)
def test_authorization_request_leads_there_at_once(
    tenant: TenantServer, visitor: Visitor, shop: RelyingParty, hint: dict[str, str]
) -> None:
    jwt_sender(tenant, **LED, EnableAutoLookUp=True)
    assert visitor.authorize(shop, **hint).address == PAGE


@pytest.mark.both_databases
def test_jwt_continues_the_request_that_waits(
    tenant: TenantServer, visitor: Visitor, shop: RelyingParty, ada: Person
) -> None:
    token = jwt_sender(tenant, **LED, EnableAutoLookUp=True)
    led = visitor.authorize(shop, state="of the app").press("Continue", identifier=ADA)
    assert led.address == PAGE
    page = brings(visitor, token(email=ADA, email_verified=True), return_url="https://evil.example/")
    assert page.address.startswith("https://shop.example/cb?")
    assert (page.query["state"], "code" in page.query) == ("of the app", True)


def test_request_waits_once(tenant: TenantServer, visitor: Visitor, shop: RelyingParty, ada: Person) -> None:
    token = jwt_sender(tenant, **LED)
    visitor.authorize(shop).follow(BUTTON)
    assert "code" in brings(visitor, token(email=ADA, email_verified=True)).query
    visitor.forget("session")
    assert brings(visitor, token(email=ADA, email_verified=True)).heading == "Profile"


def test_request_of_the_last_tab_waits(tenant: TenantServer, visitor: Visitor, shop: RelyingParty, ada: Person) -> None:
    token = jwt_sender(tenant, **LED)
    for state in ("first", "second"):
        visitor.authorize(shop, state=state).follow(BUTTON)
    assert brings(visitor, token(email=ADA, email_verified=True)).query["state"] == "second"


def test_refused_jwt_leaves_the_request_waiting(
    tenant: TenantServer, visitor: Visitor, shop: RelyingParty, ada: Person
) -> None:
    token = jwt_sender(tenant, **LED)
    visitor.authorize(shop).follow(BUTTON)
    assert is_refused(brings(visitor, token(exp=1)))
    assert "code" in brings(visitor, token(email=ADA, email_verified=True)).query


def test_jwt_of_another_provider_continues_nothing(
    tenant: TenantServer, visitor: Visitor, shop: RelyingParty, ada: Person
) -> None:
    token = jwt_sender(tenant, Domain="example.test", TokenQueryParameterName="proof")
    other = {"AppName": "Portal", "Algo": "HS256", "Key": "k" * 40, "LoginUrl": PAGE}
    answered(ask(tenant, machine(tenant, "all"), "POST", "/v2/manage/custom-providers/jwt", other))
    visitor.authorize(shop).follow("Continue with Portal")
    assert visitor.open(f"/access/jwt?proof={token(email=ADA, email_verified=True)}").heading == "Profile"


def test_another_browser_continues_nothing(
    tenant: TenantServer, world: World, visitor: Visitor, new_visitor_at: NewVisitorAt, shop: RelyingParty, ada: Person
) -> None:
    token = jwt_sender(tenant, **LED)
    visitor.authorize(shop).follow(BUTTON)
    other = new_visitor_at(world)
    other.open("/login")
    assert brings(other, token(email=ADA, email_verified=True)).heading == "Profile"
    assert "code" in brings(visitor, token(email=ADA, email_verified=True)).query


def test_request_waits_for_an_hour(
    tenant: TenantServer, visitor: Visitor, shop: RelyingParty, ada: Person, services: IdentityServices
) -> None:
    token = jwt_sender(tenant, **LED)
    visitor.authorize(shop).follow(BUTTON)
    pass_time(services, seconds=federated_sign_in.LIFETIME.total_seconds())
    assert brings(visitor, token(email=ADA, email_verified=True)).heading == "Profile"
    visitor.forget("session")
    visitor.authorize(shop).follow(f"{BUTTON} Last used")
    assert "code" in brings(visitor, token(email=ADA, email_verified=True)).query, "an expired one is replaced"


def test_forged_link_replaces_no_session_while_a_request_waits(
    tenant: TenantServer, world: World, visitor: Visitor, shop: RelyingParty, ada: Person
) -> None:
    """Any site can send a browser here with a token of its own account."""
    bob = world.person("bob@other.test")
    token = jwt_sender(tenant, **LED)
    page = visitor.open("/login").press("Continue", identifier=bob.email).press("Sign in", password=bob.password)
    assert page.heading == "Profile"
    visitor.authorize(shop, prompt="login")
    assert is_refused(brings(visitor, token(email=ADA, email_verified=True)))
    assert "bob@other.test" in visitor.open("/emails").text


def test_used_jwt_continues_nothing(tenant: TenantServer, visitor: Visitor, shop: RelyingParty, ada: Person) -> None:
    text = jwt_sender(tenant, **LED)(email=ADA, email_verified=True)
    assert brings(visitor, text).heading == "Profile"
    visitor.forget("session")
    visitor.authorize(shop).follow(BUTTON)
    assert is_refused(brings(visitor, text))


def test_new_person_signs_up_for_the_request_that_waits(
    tenant: TenantServer, visitor: Visitor, shop: RelyingParty
) -> None:
    token = jwt_sender(tenant, LoginUrl=PAGE)
    visitor.authorize(shop).follow(BUTTON)
    page = brings(visitor, token(email="new@example.test", given_name="Nina"))
    assert page.heading == "Create your account"
    assert "Check your details from Partner" in page.text
    page = page.press("Create account")
    code = code_in(mails_to(tenant.services, tenant.tenant_id, "new@example.test")[-1])
    assert "code" in page.press("Verify", code=code).query
    visitor.forget("session")
    visitor.forget("attempt")
    assert brings(visitor, token()).heading == "Profile", "the identity is linked"


def test_tenant_without_a_login_page_offers_no_linking_to_it(
    tenant: TenantServer, visitor: Visitor, ada: Person
) -> None:
    jwt_sender(tenant, LoginUrl=PAGE)
    visitor.open("/login").press("Continue", identifier=ADA).press("Sign in", password=ada.password)
    assert "Partner" not in visitor.open("/identities").text


def test_listed_fields_follow_in_a_browser_that_is_signed_in(tenant: TenantServer, visitor: Visitor) -> None:
    token = jwt_sender(tenant, RaasUpdateFields=["FirstName"], Domain="example.test")
    for name in ("Ada", "Augusta"):
        page = brings(visitor, token(email=ADA, email_verified=True, given_name=name, family_name="King"))
        assert page.profile_name == f"{name} King"
