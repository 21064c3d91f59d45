"""Several brands of a tenant: the address, the host, the application and the organization choose themes."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from flask import Flask

from app.contract.tenants.brand_levels import merged_brand
from app.hub import create_app
from app.hub.web.application import HubFlask
from app.identity.directory.tenants import themed_tenant
from app.kit.design.theme_file_names import digest_of
from app.kit.operations.server import OperationServer
from tests.support.accounts.mailbox import sent_messages
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.members import Company
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.theme_files import address, svg
from tests.support.theme_files import store as store_files
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt, VisitedPage, Visitor
from tests.support.workflows.running import server_of

THEMES = "/v2/manage/hosted-pages/themes"
HAZEL, OAK = "#0a7d55", "#8a3b12"
Store = Callable[..., str]


@pytest.fixture
def server(world: World) -> TenantServer:
    return server_of(world)


@pytest.fixture
def store(server: TenantServer) -> Store:
    return lambda name, key=None, **brand: store_at(server, name, key, **brand)


def store_at(server: TenantServer, name: str, key: str | None = None, host: str | None = None, **brand: Any) -> str:
    """Store a theme by the interface, and return its id."""
    body = {"Name": name, "BrandKey": key, "BrandHost": host, "Brand": brand}
    made = answered(ask(server, machine(server, "all"), "POST", THEMES, body))
    server.services.directory.clear_cache()
    return str(made["Id"])


@pytest.fixture
def brands(world: World, store: Store) -> None:
    """Two brands of one tenant, each with a part of the tenant's look."""
    world.change_brand(display_name="Acme", color="#334455", links={"privacy": "https://acme.example/privacy"})
    store("Hazel look", "hazel", DisplayName="Hazel", Color=HAZEL, Texts={"en": {"forgot_password": "Hazel help?"}})
    store("Oak look", "oak", DisplayName="Oak", Color=OAK, Css=".button{letter-spacing:2px}")


def shows(page: VisitedPage) -> str:
    """Return the name of the brand that all of a page shows; fails if a part of it is of another."""
    found = {name for name in ("Acme", "Hazel", "Oak") if name in page.title}
    assert len(found) == 1, page.title
    (name,) = found
    assert (HAZEL in page.html, OAK in page.html) == (name == "Hazel", name == "Oak")
    assert "https://acme.example/privacy" in page.html
    return name


@pytest.mark.both_databases
@pytest.mark.usefixtures("brands")
def test_address_chooses_the_brand_of_the_pages_that_follow(new_visitor: NewVisitor) -> None:
    visitor = new_visitor()
    assert shows(visitor.open("/login")) == "Acme"
    page = visitor.open("/login?brand=hazel")
    assert shows(page) == "Hazel"
    assert "Hazel help?" in page.text
    assert shows(page.press("Sign in", identifier="nobody@example.com", password="wrong")) == "Hazel"
    for path in ("/register", "/forgot-password", "/login?lang=en"):
        assert shows(visitor.open(path)) == "Hazel"
    assert shows(visitor.open("/login?brand=oak")) == "Oak"
    assert shows(visitor.open("/login?brand=")) == "Acme"
    assert shows(visitor.open("/login")) == "Acme"
    assert shows(new_visitor().open("/login")) == "Acme"


@pytest.mark.usefixtures("brands")
@pytest.mark.parametrize(
    "named", ["nowhere", "Hazel look", "HAZEL", "hazel%00", "..%2Fhazel", "%22%3E%3Cscript%3E", "x" * 5000, "oak look"]
)
def test_unknown_brand_is_ignored(visitor: Visitor, named: str) -> None:
    assert shows(visitor.open(f"/login?brand={named}")) == "Acme"
    assert not visitor.cookies("brand")
    visitor.open("/login?brand=hazel")
    assert shows(visitor.open(f"/login?brand={named}")) == "Hazel"


@pytest.mark.usefixtures("brands")
def test_unknown_brands_fill_no_cache(hub_app: HubFlask, visitor: Visitor) -> None:
    cache = hub_app.extensions["gatehouse"].cached_pages
    visitor.open("/login")
    before = len([*cache.values()])
    for number in range(20):
        visitor.client.set_cookie("gatehouse-brand", f"made-up-{number}", domain=visitor.home.partition("://")[2])
        assert shows(visitor.open(f"/login?brand=b{number}")) == "Acme"
    assert len([*cache.values()]) == before


@pytest.mark.usefixtures("brands")
def test_brand_of_another_tenant_cannot_be_named(
    world: World, new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    other = new_world()
    store_at(server_of(other), "Own", "own", DisplayName="Theirs")
    theirs = new_visitor_at(other).open("/login?brand=hazel")
    assert "Hazel" not in theirs.html
    assert HAZEL not in theirs.html
    assert shows(new_visitor_at(world).open("/login?brand=own")) == "Acme"


@pytest.mark.both_databases
@pytest.mark.usefixtures("brands")
def test_interaction_keeps_the_brand_of_its_request(world: World, visitor: Visitor) -> None:
    ada = world.person("ada@example.com")
    shop = world.application("Shop")
    page = visitor.authorize(shop, brand="hazel")
    visitor.forget("gatehouse-brand")
    for each in (
        page,
        visitor.open(page.address),
        page.press("Sign in", identifier=ada.email, password="wrong"),
        visitor.open(f"/register?attempt={page.query['attempt']}"),
        visitor.open(f"/forgot-password?attempt={page.query['attempt']}"),
    ):
        assert shows(each) == "Hazel"


@pytest.mark.usefixtures("brands")
def test_request_without_a_brand_has_none_of_the_browser(world: World, visitor: Visitor) -> None:
    visitor.open("/login?brand=hazel")
    page = visitor.authorize(world.application("Shop"))
    assert shows(page) == "Acme"
    assert shows(visitor.authorize(world.application("Desk"), brand="nowhere")) == "Acme"
    assert shows(visitor.open(f"{page.address}&brand=oak")) == "Oak"
    assert shows(visitor.open(page.address)) == "Oak"


@pytest.mark.usefixtures("brands")
def test_pushed_request_chooses_the_brand(world: World, visitor: Visitor) -> None:
    shop = world.application("Shop")
    pushed = shop.push(brand="oak").get_json()["request_uri"]
    page = visitor.open(f"/service/oidc/authorize?client_id={shop.client_id}&request_uri={pushed}")
    assert shows(page) == "Oak"


@pytest.mark.usefixtures("brands")
def test_legacy_address_chooses_the_brand(visitor: Visitor) -> None:
    page = visitor.open("/auth.aspx?action=login&brand=oak")
    visitor.forget("gatehouse-brand")
    assert shows(visitor.open(page.address)) == "Oak"


@pytest.mark.usefixtures("brands")
def test_host_chooses_the_brand(world: World, server: TenantServer, hub_app: Flask, visitor: Visitor) -> None:
    host = world.add_custom_domain()
    store_at(server, "Host look", host=host, DisplayName="Oak", Color=OAK)
    there = Visitor(PlainClient(hub_app), world.services.settings.custom_url(host))
    for _ in range(2):  # the second from the cache
        assert shows(there.open("/login")) == "Oak"
        assert shows(visitor.open("/login")) == "Acme"
    assert shows(there.open("/login?brand=hazel")) == "Hazel"


@pytest.mark.usefixtures("brands")
def test_style_sheet_of_each_brand_is_served(world: World, new_visitor: NewVisitor) -> None:
    page = new_visitor().open("/login?brand=oak")
    address = next(part for part in page.html.split('"') if part.startswith("/theme/theme."))
    sheet = new_visitor().open(address)  # another browser has no brand
    assert sheet.answer is not None
    assert "letter-spacing:2px" in sheet.html
    assert "immutable" in sheet.answer.headers["Cache-Control"]
    assert "/theme/theme." not in new_visitor().open("/login?brand=hazel").html


@pytest.mark.usefixtures("brands")
def test_policy_follows_the_chosen_brand(world: World, store: Store, new_visitor: NewVisitor) -> None:
    store("Far", "far", DisplayName="Oak", Color=OAK, Logo="https://cdn.far.example/logo.png")
    for key, is_allowed in (("far", True), ("hazel", False), ("", False)):
        answer = new_visitor().open(f"/login?brand={key}").answer
        assert answer is not None
        assert ("https://cdn.far.example" in answer.headers["Content-Security-Policy"]) is is_allowed


@pytest.mark.usefixtures("brands")
def test_cached_page_of_a_brand_costs_no_call(visitor: Visitor) -> None:
    visitor.open("/login?brand=hazel")
    visitor.open("/login")
    page = visitor.open("/login")
    assert shows(page) == "Hazel"
    assert not any(page.cost.values())


@pytest.mark.usefixtures("brands")
def test_brands_side_by_side_do_not_mix(new_visitor: NewVisitor) -> None:
    expected = {"": "Acme", "hazel": "Hazel", "oak": "Oak"}

    def visit(key: str) -> None:
        visitor = new_visitor()
        for path in (f"/login?brand={key}", "/login", "/register", "/forgot-password", "/login"):
            assert shows(visitor.open(path)) == expected[key]

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(visit, [*expected] * 12))


@pytest.mark.both_databases
@pytest.mark.usefixtures("brands")
def test_application_names_a_theme(world: World, store: Store, visitor: Visitor) -> None:
    store("Shop look", Color=OAK, Texts={"en": {"forgot_password": "Shop help?"}})
    shop = world.application("Shop", theme_name="Shop look")
    page = visitor.authorize(shop, brand="hazel")
    assert "Hazel" in page.title
    assert OAK in page.html
    assert HAZEL not in page.html
    assert "Shop help?" in page.text
    plain = visitor.authorize(world.application("Desk"), brand="hazel")
    assert "Hazel help?" in plain.text
    assert not any(visitor.open(page.address).cost.values())


@pytest.mark.usefixtures("brands")
def test_organization_names_a_theme_under_its_color(
    world: World, company: Company, store: Store, visitor: Visitor
) -> None:
    store("Globex look", Color=OAK, ButtonShape="pill", Texts={"en": {"forgot_password": "Globex help?"}})
    shop = world.application("Shop", theme_name="Hazel look", organization_usage="allow")
    company.business.create("globex", Display={"Name": "Globex", "ThemeName": "Globex look"})
    company.business.create("initech", Display={"Name": "Initech", "ThemeName": "Globex look", "Color": HAZEL})
    page = visitor.authorize(shop, organization="globex")
    assert "Globex help?" in page.text
    assert OAK in page.html
    assert "--button-radius:99px" in page.html
    assert OAK not in visitor.authorize(shop, organization="initech").html


def test_files_of_all_levels_are_on_a_page(world: World, company: Company, store: Store, visitor: Visitor) -> None:
    own, of_brand, of_shop, of_company = (svg(f"<path d='M{number} 0'/>") for number in range(4))
    contents = {"img/a.svg": own, "img/b.svg": of_brand, "img/c.svg": of_shop, "img/d.svg": of_company}
    assert store_files(world.services, world.tenant_id, contents)
    layout = '<img src="img/tile.svg" alt=""><img src="img/own.svg" alt="">{{ content() }}{{ footer() }}{{ scene() }}'
    world.change_brand(
        files={"img/tile.svg": digest_of(own), "img/own.svg": digest_of(own)},
        templates={"layouts/split.html": layout},
        css=".own-a { background: url(img/tile.svg) }",
    )
    store("Hazel look", "hazel", Files={"img/tile.svg": digest_of(of_brand)})
    store("Shop look", Files={"img/shop.svg": digest_of(of_shop)}, Scene="picture", Picture="img/shop.svg")
    store("Globex look", Files={"img/icon.svg": digest_of(of_company)}, Favicon="img/icon.svg")
    company.business.create("globex", Display={"Name": "Globex", "ThemeName": "Globex look"})
    shop = world.application("Shop", theme_name="Shop look", organization_usage="allow")
    page = visitor.authorize(shop, brand="hazel", organization="globex")
    shown = {"img/tile.svg": of_brand, "img/own.svg": own, "img/shop.svg": of_shop, "img/icon.svg": of_company}
    for name, content in shown.items():
        assert address(name, content) in page.html, name
        assert visitor.client.get(address(name, content), base_url=visitor.home).data == content
    assert address("img/tile.svg", own) not in page.html, "the brand's file has the name of the tenant's"
    sheet = visitor.open(re.findall(r'href="(/theme/theme[^"]+)"', page.html)[0]).answer
    assert sheet is not None
    assert address("img/tile.svg", own) in sheet.get_data(as_text=True), "a style sheet has the files of its own theme"


@pytest.mark.usefixtures("brands")
def test_mail_has_the_brand_of_the_page(world: World, store: Store, new_visitor: NewVisitor) -> None:
    ada = world.person("ada@example.com")
    visitor = new_visitor()
    visitor.open("/login?brand=hazel")
    ask_for_reset(visitor, "/forgot-password", ada)
    mail = sent_messages(world.services, world.tenant_id)[-1]
    assert mail["sender_name"] == "Hazel"
    assert HAZEL in mail["html"]
    link = next(part for part in mail["text"].split() if part.startswith(visitor.home))
    assert link.endswith("brand=hazel")
    assert shows(new_visitor().open(link)) == "Hazel"


@pytest.mark.usefixtures("brands")
def test_mail_of_an_application_has_its_theme(world: World, store: Store, visitor: Visitor) -> None:
    ada = world.person("ada@example.com")
    store("Shop look", DisplayName="The shop", Color=OAK)
    page = visitor.authorize(world.application("Shop", theme_name="Shop look"))
    ask_for_reset(visitor, f"/forgot-password?attempt={page.query['attempt']}", ada)
    mail = sent_messages(world.services, world.tenant_id)[-1]
    assert mail["sender_name"] == "The shop"
    assert OAK in mail["html"]
    assert "https://acme.example/privacy" in mail["html"]


@pytest.mark.usefixtures("brands")
def test_look_of_mails_is_merged_once_for_each_version(
    world: World, server: TenantServer, new_visitor: NewVisitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged: list[Any] = []

    def counted(levels: Any) -> Any:
        merged.append(levels)
        return merged_brand(levels)

    monkeypatch.setattr(themed_tenant, "merged_brand", counted)
    world.change_settings(sending={"mails_by_type": {"forgotpassword": {"amount": 0, "minutes": 1}}})
    ada = world.person("ada@example.com")
    visitor = new_visitor()
    visitor.open("/login?brand=hazel")
    for _ in range(2):
        ask_for_reset(visitor, "/forgot-password", ada)
    assert len(merged) == 1
    (theme,) = [each for each in listed(server) if each["Name"] == "Hazel look"]
    body = {**theme, "Brand": {**theme["Brand"], "Color": OAK}}
    answered(ask(server, machine(server, "all"), "PUT", f"{THEMES}/{theme['Id']}", body))
    ask_for_reset(visitor, "/forgot-password", ada)
    assert OAK in sent_messages(world.services, world.tenant_id)[-1]["html"]
    assert len(merged) == 2


def listed(server: TenantServer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answered(ask(server, machine(server, "all"), "GET", THEMES))["Data"]
    return found


def ask_for_reset(visitor: Visitor, path: str, person: Person) -> None:
    visitor.open(path).press("Send reset link", identifier=person.email)


@pytest.mark.parametrize("key", ["Hazel", "a b", "-a", "x" * 41, "", "ä"])
def test_malformed_key_is_refused(server: TenantServer, key: str) -> None:
    body = {"Name": "No", "BrandKey": key, "Brand": {}}
    assert refused(ask(server, machine(server, "all"), "POST", THEMES, body)) == (400, 7900)


@pytest.mark.both_databases
@pytest.mark.usefixtures("brands")
def test_key_of_another_theme_is_refused(server: TenantServer) -> None:
    body = {"Name": "Again", "BrandKey": "hazel", "Brand": {}}
    assert refused(ask(server, machine(server, "all"), "POST", THEMES, body)) == (400, 7900)


def test_unknown_theme_of_an_organization_is_refused(server: TenantServer, company: Company) -> None:
    with pytest.raises(AssertionError, match="there is no theme Nowhere"):
        company.business.create("globex", Display={"ThemeName": "Nowhere"})


@pytest.mark.usefixtures("brands")
def test_gallery_shows_the_level_of_each_value(world: World, store: Store, identity_app: OperationServer) -> None:
    settings = replace(world.services.settings, development=True)
    hub = create_app(settings, clock=world.services.clock, server=identity_app)
    visitor = Visitor(PlainClient(hub), settings.hub_url(world.name))
    store("Shop look", Color=OAK, Texts={"en": {"forgot_password": "Shop help?"}})
    page = visitor.open("/_gallery?look=own&brand=Hazel+look&application=Shop+look&organization=Nowhere&group=device")
    for row in (
        "display_name brand", "color application", "links.privacy tenant", "texts.en.forgot_password application"
    ):  # fmt: skip
        assert row in page.text
    assert "Nowhere" not in page.html
    address = next(unescape(part) for part in page.html.split('"') if part.startswith("/_gallery/Device"))
    sample = visitor.open(address)
    assert "Hazel" in sample.title
    assert OAK in sample.html
    assert "Where values come from" not in visitor.open("/_gallery?look=acme&brand=Hazel+look").text
