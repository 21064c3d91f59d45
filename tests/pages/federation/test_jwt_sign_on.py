"""JWT sign-on in the browser: apps that get a JWT, and browsers that bring one."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest
from joserfc import jws, jwt
from joserfc.jwk import OctKey
from sqlalchemy import select
from werkzeug.test import Client as WsgiClient

from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import code_in, mails_to
from tests.support.fakes.identity_provider import key
from tests.support.fakes.native_apps import jwt_sender
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

BACK = "https://shop.example/jwt"
SECRET = "a key of at least thirty-two bytes"
ADA = "ada@example.test"


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(url_whitelist=[BACK, "https://shop.example/home"])


@pytest.fixture
def world(tenant: TenantServer, identity_app: Any) -> World:
    return World(tenant.services, WsgiClient(identity_app), tenant.tenant_id, tenant.name, tenant.api_key)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person(ADA)


def with_app(tenant: TenantServer, **members: Any) -> None:
    body = {"AppName": "Shop", "Algo": "HS256", "Secret": SECRET, **members}
    answered(ask(tenant, machine(tenant, "client:create"), "POST", "/v2/manage/jwt-clients", body))


def link(tenant: TenantServer, path: str = "/service/jwt/Shop/authorize", **changed: str) -> str:
    return f"{path}?{urlencode({'client_id': tenant.api_key, 'redirect_uri': BACK, 'nonce': 'n-1', **changed})}"


def signed_in(page: VisitedPage, ada: Person) -> VisitedPage:
    return page.press("Sign in", identifier=ada.email, password=ada.password)


def claims(token: str) -> dict[str, Any]:
    registry = jws.JWSRegistry(algorithms=["HS256"])
    return dict(jwt.decode(token, OctKey.import_key(SECRET), registry=registry).claims)


def test_app_gets_the_jwt_after_the_sign_in(tenant: TenantServer, visitor: Visitor, ada: Person) -> None:
    with_app(tenant)
    page = visitor.open(link(tenant))
    assert page.is_sign_in
    back = signed_in(page, ada)
    assert back.address.startswith(f"{BACK}?")
    stored = claims(back.query["id_token"])
    assert (stored["sub"], stored["nonce"]) == (ada.uid, "n-1")
    query = urlencode({"client_id": tenant.api_key, "redirect_uri": BACK, "nonce": "n-2"})
    again = visitor.open(f"/service/jwt/Shop/authorize?{query}")
    assert claims(again.query["id_token"])["nonce"] == "n-2", "a signed-in browser returns at once"


def test_parameter_and_fragment_are_the_clients(tenant: TenantServer, visitor: Visitor, ada: Person) -> None:
    with_app(tenant, QueryStringParameter="ticket", ResponseMode="fragment")
    back = signed_in(visitor.open(link(tenant, redirect_uri=f"{BACK}?a=1")), ada)
    parts = urlsplit(back.address)
    assert parts.query == "a=1"
    assert claims(dict(parse_qsl(parts.fragment))["ticket"])["sub"] == ada.uid


def test_post_sends_a_form(tenant: TenantServer, visitor: Visitor, ada: Person) -> None:
    with_app(tenant, ResponseMode="post")
    page = signed_in(visitor.open(link(tenant)), ada)
    form = page.form("Continue")
    assert (form.action, form.method.lower()) == (BACK, "post")
    assert claims(form.fields["id_token"])["sub"] == ada.uid


def test_older_address_names_the_app_in_the_query(tenant: TenantServer, visitor: Visitor, ada: Person) -> None:
    with_app(tenant)
    back = signed_in(visitor.open(link(tenant, "/sso/jwt/redirect/token", jwtapp="shop")), ada)
    assert claims(back.query["id_token"])["sub"] == ada.uid


WRONG = {
    "another key": ({"client_id": "x"}, "App not found"),
    "an address that is not registered": ({"redirect_uri": "https://evil.example/"}, "We can’t send you back"),
    "a page below a registered one": ({"redirect_uri": f"{BACK}/x"}, "We can’t send you back"),
    "a script": ({"redirect_uri": "javascript:alert(1)"}, "We can’t send you back"),
    "no address": ({"redirect_uri": ""}, "We can’t send you back"),
}


@pytest.mark.parametrize(("changed", "heading"), WRONG.values(), ids=WRONG)
def test_wrong_request_gets_an_error_page(
    tenant: TenantServer, visitor: Visitor, ada: Person, changed: dict[str, str], heading: str
) -> None:
    with_app(tenant)
    page = visitor.open(link(tenant, **changed))
    assert (page.status, page.heading) == (400, heading)


def test_unknown_app_gets_an_error_page(tenant: TenantServer, visitor: Visitor) -> None:
    for path, code in (("/service/jwt/Other/authorize", "1180"), ("/service/jwt/authorize", "1196")):
        page = visitor.open(link(tenant, path))
        assert (page.status, page.heading) == (400, "App not found")
        assert code in page.text


def test_address_that_left_the_whitelist_gets_nothing(
    tenant: TenantServer, world: World, visitor: Visitor, ada: Person
) -> None:
    with_app(tenant)
    page = visitor.open(link(tenant))
    world.change_settings(url_whitelist=[])
    assert signed_in(page, ada).heading == "We can’t send you back"


# browsers that bring a JWT


def refused_with(page: VisitedPage) -> str:
    """Return the code of the error page; the address also has the reference of the refused request."""
    parts = urlsplit(page.address)
    assert parts.path == "/access/jwt/error"
    return parse_qs(parts.query)["code"][0]


def brings(visitor: Visitor, token: str, name: str = "jwttoken", **query: str) -> VisitedPage:
    return visitor.open(f"/access/jwt?{urlencode({name: token, **query})}")


@pytest.mark.parametrize("name", ["jwttoken", "jwt", "JWT"])
def test_jwt_of_a_provider_signs_in_once(tenant: TenantServer, visitor: Visitor, ada: Person, name: str) -> None:
    token = jwt_sender(tenant, Domain="example.test")(email=ADA, email_verified=True)
    page = brings(visitor, token, name)
    assert (page.heading, page.address) == ("Profile", f"{visitor.home}/profile")
    visitor.forget("session")
    page = brings(visitor, token)
    assert (page.status, refused_with(page)) == (403, "1232")
    assert page.heading == "Sign-in didn’t finish"


def test_token_comes_in_the_parameter_of_its_provider(tenant: TenantServer, visitor: Visitor, ada: Person) -> None:
    token = jwt_sender(tenant, Domain="example.test", TokenQueryParameterName="proof")
    assert refused_with(brings(visitor, token(email=ADA, email_verified=True), "jwt")) == "1232"
    assert brings(visitor, token(email=ADA, email_verified=True), "proof").heading == "Profile"


@pytest.mark.parametrize("takes_header", [False, True])
def test_header_needs_the_setting_of_its_provider(
    tenant: TenantServer, visitor: Visitor, ada: Person, *, takes_header: bool
) -> None:
    token = jwt_sender(tenant, Domain="example.test", UseAuthorizationHeader=takes_header)
    page = visitor.open("/access/jwt", Authorization=f"Bearer {token(email=ADA, email_verified=True)}")
    assert (page.heading == "Profile") is takes_header


def test_jwt_of_an_app_signs_in_no_browser(tenant: TenantServer, visitor: Visitor, ada: Person) -> None:
    token = jwt_sender(tenant, Domain="example.test")
    by_app, by_browser = token(email=ADA, email_verified=True), token(email=ADA, email_verified=True)
    native = partial(tenant.send, "GET", "/api/v2/access_token/jwt", providername="Partner", refresh_token="any")
    answered(native(id_token=by_app))
    assert refused_with(brings(visitor, by_app)) == "1232"
    assert brings(visitor, by_browser).heading == "Profile"
    assert refused(native(id_token=by_browser)) == (403, 1232)


def test_log_names_the_provider_of_a_browser_that_checks_nothing(
    tenant: TenantServer, visitor: Visitor, ada: Person, caplog: pytest.LogCaptureFixture
) -> None:
    token = jwt_sender(tenant, Domain="example.test")
    for _ in range(2):
        brings(visitor, token(email=ADA, email_verified=True))
        visitor.forget("session")
    named = [record.getMessage() for record in caplog.records if "JWT provider" in record.getMessage()]
    assert len(named) == 1
    assert named[0].startswith(f"tenant {tenant.name}: JWT provider Partner doesn't check iss and aud, so ")


def test_browser_returns_to_an_allowed_address_alone(tenant: TenantServer, visitor: Visitor, ada: Person) -> None:
    token = jwt_sender(tenant, Domain="example.test")
    home = "https://shop.example/home"
    assert brings(visitor, token(email=ADA, email_verified=True), return_url=home).address == home
    visitor.forget("session")
    page = brings(visitor, token(email=ADA, email_verified=True), return_url="https://evil.example/")
    assert page.address.startswith(f"{visitor.home}/profile")


def test_address_of_the_domain_links_the_account_for_good(tenant: TenantServer, visitor: Visitor, ada: Person) -> None:
    token = jwt_sender(tenant, Domain="example.test")
    brings(visitor, token(email=ADA, email_verified=True))
    assert "Partner" in visitor.open("/identities").text
    visitor.forget("session")
    assert brings(visitor, token()).heading == "Profile", "without the address, too"


def test_unproven_address_opens_no_account(tenant: TenantServer, visitor: Visitor, ada: Person) -> None:
    page = brings(visitor, jwt_sender(tenant)(email=ADA, email_verified=True))
    assert page.heading == "Create your account"


def test_foreign_address_connects_no_account(
    tenant: TenantServer, visitor: Visitor, new_visitor_at: NewVisitorAt, world: World, ada: Person
) -> None:
    token = jwt_sender(tenant, Domain="partner.test")
    page = brings(visitor, token(email=ADA, email_verified=True))
    assert "Sign in to connect it" not in page.text
    assert signed_in(page.follow("Sign in"), ada).heading == "Profile"
    assert brings(new_visitor_at(world), token()).heading != "Profile"


def test_forged_link_plants_no_identity_in_a_new_account(
    tenant: TenantServer, visitor: Visitor, new_visitor_at: NewVisitorAt, world: World
) -> None:
    """Any site can send a browser here with a JWT of its own; who signs up then, signs up for themselves."""
    token = jwt_sender(tenant)
    page = brings(visitor, token(given_name="Mallory"))
    assert page.heading == "Create your account"
    assert "Partner" not in page.text
    page = page.press("Create account", email="new@example.test", password="Zebra-kettle-91")
    code = code_in(mails_to(tenant.services, tenant.tenant_id, "new@example.test")[-1])
    assert page.press("Verify", code=code).heading == "Profile"
    assert brings(new_visitor_at(world), token()).heading != "Profile"


@pytest.mark.parametrize("updates", [True, False])
def test_changed_email_at_the_provider_changes_the_accounts(
    tenant: TenantServer, visitor: Visitor, ada: Person, *, updates: bool
) -> None:
    token = jwt_sender(tenant, Domain="example.test", UpdateEmailProfile=updates)
    brings(visitor, token(email=ADA, email_verified=True))
    visitor.forget("session")
    assert brings(visitor, token(email="king@example.test", email_verified=True)).heading == "Profile"
    page = visitor.open("/emails")
    assert ("king@example.test" in page.text, ADA in page.text) == (updates, not updates)


def test_wrong_jwt_leads_to_the_error_page(tenant: TenantServer, visitor: Visitor, ada: Person) -> None:
    token = jwt_sender(tenant)
    other = OctKey.import_key("another key of at least thirty-two bytes")
    for text in ("x", "", "a.b.c", token(key=other), token(exp=1), token(exp=None)):
        assert refused_with(brings(visitor, text)) == "1232"
    assert refused_with(brings(visitor, token(sub=None))) == "1231"
    assert refused_with(brings(visitor, token(), provider="Other")) == "1232"
    twice = urlencode([("jwttoken", token()), ("JWTToken", token())])
    assert refused_with(visitor.open(f"/access/jwt?{twice}")) == "1232"


def test_provider_without_its_keys_stops_no_other(tenant: TenantServer, visitor: Visitor, ada: Person) -> None:
    broken = jwt_sender(tenant, AppName="Broken", Algo="RS256", Key=None, JWKSUrl="https://127.0.0.1:9/keys")
    assert refused_with(brings(visitor, broken(key=key(1)))) == "1000"
    token = jwt_sender(tenant, Domain="example.test")
    assert brings(visitor, token(email=ADA, email_verified=True)).heading == "Profile"


def test_signed_in_browser_is_not_switched(tenant: TenantServer, visitor: Visitor, world: World, ada: Person) -> None:
    bob = world.person("bob@example.test")
    signed_in(visitor.open("/login"), bob)
    token = jwt_sender(tenant, Domain="example.test")(email=ADA, email_verified=True)
    assert refused_with(brings(visitor, token)) == "1232"
    assert "bob@example.test" in visitor.open("/emails").text


def test_browser_with_other_accounts_is_not_switched(
    tenant: TenantServer, visitor: Visitor, world: World, ada: Person
) -> None:
    signed_in(visitor.open("/login"), world.person("bob@example.test"))
    host = visitor.home.partition("://")[2].partition(":")[0]
    visitor.client.set_cookie("gatehouse-accounts", visitor.session_cookie(), domain=host)
    visitor.forget("session")
    token = jwt_sender(tenant, Domain="example.test")(email=ADA, email_verified=True)
    assert refused_with(brings(visitor, token)) == "1232"


@pytest.mark.both_databases
def test_audit_names_the_account(tenant: TenantServer, visitor: Visitor, world: World, ada: Person) -> None:
    token = jwt_sender(tenant, Domain="example.test")
    brings(visitor, token(email=ADA, email_verified=True))
    visitor.forget("session")
    brings(visitor, token(email=ADA, email_verified=True))
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        where = (audit.c.tenant_id == tenant.tenant_id, audit.c.event == "jwt.accepted")
        assert work.all(select(audit.c.uid).where(*where)) == [(ada.uid,)] * 2


def test_error_page_shows_no_text_of_the_address(tenant: TenantServer, visitor: Visitor) -> None:
    page = visitor.open("/access/jwt/error?code=<script>")
    assert (page.status, "script>" in page.text) == (403, False)
