"""The workflow in force decides the first page, the methods that it has, and its theme."""

from __future__ import annotations

import pytest
from flask import Flask

from app.contract.applications.file import DEVICE_GRANT
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor
from tests.support.workflows.drawings import Drawing, drawing, node
from tests.support.workflows.running import DENIAL, PATH, put_in_force, server_of, signing_in_by, stored

NEW = "Create account"
THEMES = "/v2/manage/hosted-pages/themes"
RED = {"DisplayName": "Spring Fair", "Color": "#a11d33"}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(passwordless_email=True, passkeys=True)


@pytest.fixture
def server(world: World) -> TenantServer:
    return server_of(world)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com")


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def beginning_with(kind: str) -> Drawing:
    nodes = [node("start", "Start"), node("entry", kind), node("end", "SuccessFinalNode")]
    return drawing(nodes, "start -> entry", "entry -> end")


def by_application(name: str) -> Drawing:
    """Return a workflow that lets people of one application register, and turns away all others."""
    nodes = [
        node("start", "Start"), node("if", "Condition", expression=f"request.application == '{name}'"),
        node("register", "Register"), node("deny", "Deny", text=DENIAL), node("end", "SuccessFinalNode"),
    ]  # fmt: skip
    return drawing(nodes, "start -> if", "if.true -> register", "if.false -> deny", "register -> end")


def themed(server: TenantServer, data: Drawing, name: str = "Flow") -> str:
    """Put a workflow in force that names a theme, and return the theme’s id."""
    token = machine(server, "all")
    theme = answered(ask(server, token, "POST", THEMES, {"Name": "Spring", "Brand": RED}))
    answered(ask(server, token, "POST", PATH, {"Name": name, "Data": data, "ThemeName": "Spring"}))
    server.change_settings(default_workflow=name)
    return str(theme["Id"])


def allow_every_method(server: TenantServer) -> None:
    named = dict.fromkeys(("passwordless_email", "passwordless_sms", "smart_login", "qr_sign_on", "phone_login"), True)
    server.change_settings(**named, pin={"is_on": True, "login": True})


def has_password(page: VisitedPage) -> bool:
    return 'name="password"' in page.html


@pytest.mark.both_databases
def test_register_node_begins_with_registration(world: World, server: TenantServer, visitor: Visitor) -> None:
    put_in_force(server, beginning_with("Register"))
    for page in (visitor.open("/login"), visitor.authorize(world.application("Shop"))):
        assert page.heading == "Create your account"
        assert page.follow("Sign in").is_sign_in


def test_person_at_a_register_node_can_sign_in(server: TenantServer, visitor: Visitor, ada: Person) -> None:
    put_in_force(server, beginning_with("Register"))
    page = visitor.open("/login").follow("Sign in")
    assert page.press("Sign in", identifier=ada.email, password=ada.password).heading == "Sign in faster next time"


def test_passkey_node_shows_the_passkey_alone(world: World, server: TenantServer, visitor: Visitor) -> None:
    put_in_force(server, beginning_with("PasskeyLogin"))
    for page in (visitor.open("/login"), visitor.authorize(world.application("Shop"))):
        assert not has_password(page)
        assert "Sign in with a passkey" in page.text
        assert "Get an email link" not in page.text
        assert NEW not in page.text


def test_login_node_shows_its_methods_alone(world: World, server: TenantServer, visitor: Visitor) -> None:
    put_in_force(server, signing_in_by("email"))
    page = visitor.open("/login")
    assert not has_password(page)
    assert "passkey" not in page.text.lower()
    assert NEW not in page.text
    assert page.follow("Get an email link").status == 200
    assert visitor.open(f"/register?attempt={page.query['attempt']}").status == 403


def test_login_node_with_a_password_keeps_registration(server: TenantServer, visitor: Visitor) -> None:
    put_in_force(server, signing_in_by("password"))
    page = visitor.open("/login")
    assert has_password(page)
    assert "Get an email link" not in page.text
    assert page.press(NEW).heading == "Create your account"


def test_methods_that_the_tenant_lacks_are_a_refusal(server: TenantServer, visitor: Visitor) -> None:
    server.change_settings(phone_login=True, passwordless_sms=True)
    put_in_force(server, signing_in_by("sms"))
    server.change_settings(passwordless_sms=False)
    assert "You can’t sign in right now" in visitor.open("/login").text


def test_condition_about_the_request_chooses_the_page(world: World, server: TenantServer, visitor: Visitor) -> None:
    put_in_force(server, by_application("Shop"))
    assert visitor.authorize(world.application("Shop")).heading == "Create your account"
    for page in (visitor.open("/login"), visitor.authorize(world.application("Other"))):
        assert DENIAL["en"] in page.text


def test_refusal_before_the_sign_in_offers_no_other_try(world: World, server: TenantServer, visitor: Visitor) -> None:
    put_in_force(server, by_application("Shop"))
    for page in (visitor.open("/login"), visitor.authorize(world.application("Other"))):
        assert page.heading == "You can’t sign in"
        assert "Back to sign in" not in page.text
    page = visitor.open("/login?needs=closed")
    assert DENIAL["en"] in page.text


def test_forged_address_closes_no_sign_in(server: TenantServer, visitor: Visitor) -> None:
    put_in_force(server, signing_in_by("password"))
    assert has_password(visitor.open("/login?needs=closed"))


def test_application_shows_its_own_first_page(world: World, server: TenantServer, visitor: Visitor) -> None:
    stored(server, beginning_with("Register"), "New people")
    stored(server, signing_in_by("email"), "Guests")
    shop = world.application("Shop", workflows=["New people", "Guests"])
    assert visitor.authorize(shop).heading == "Create your account"
    assert not has_password(visitor.authorize(shop, workflow="Guests"))
    assert has_password(visitor.open("/login"))


def test_requested_registration_comes_before_a_login_node(world: World, server: TenantServer, visitor: Visitor) -> None:
    put_in_force(server, signing_in_by("password"))
    assert visitor.authorize(world.application("Shop"), prompt="create").heading == "Create your account"


@pytest.mark.both_databases
def test_theme_is_on_the_pages_of_its_sign_ins(
    world: World, server: TenantServer, visitor: Visitor, ada: Person
) -> None:
    themed(server, signing_in_by("password"))
    page = visitor.authorize(world.application("Shop"))
    assert "Spring Fair" in page.html
    assert "Spring Fair" in page.press("Sign in", identifier=ada.email, password="wrong").html
    assert "Spring Fair" in visitor.open("/login").html


FIRST_PAGES = [
    "/login", "/register", "/forgot-password", "/forgot-pin", "/passkeys/lost", "/device", "/device?user_code=WDJB-MJHT",
    "/sign-in/mail", "/sign-in/sms", "/sign-in/device", "/sign-in/phone", "/service/oidc/device/authorize",
]  # fmt: skip


@pytest.mark.parametrize("path", FIRST_PAGES)
def test_first_page_has_the_theme(world: World, server: TenantServer, visitor: Visitor, path: str) -> None:
    allow_every_method(server)
    themed(server, beginning_with("Login"))
    page = visitor.open(path)
    assert page.status == 200
    assert "Spring Fair" in page.html
    assert page.address.partition("?")[0].endswith(path.partition("?")[0])
    assert "Spring Fair" in visitor.open(page.address).html


def test_no_page_of_a_sign_in_lacks_the_theme(
    world: World, server: TenantServer, visitor: Visitor, hub_app: Flask
) -> None:
    allow_every_method(server)
    themed(server, beginning_with("Login"))
    rules = [rule for rule in hub_app.url_map.iter_rules() if "GET" in (rule.methods or ()) and not rule.arguments]
    paths = [*{rule.rule for rule in rules}, *FIRST_PAGES]
    shown = {path: visitor.open(path) for path in paths}
    forms = {path for path, page in shown.items() if page.status == 200 and "<form" in page.html}
    assert forms >= set(FIRST_PAGES)
    assert {path for path in forms if "Spring Fair" not in shown[path].html} == set()


def test_forgotten_password_keeps_the_theme(server: TenantServer, visitor: Visitor, ada: Person) -> None:
    themed(server, signing_in_by("password"))
    page = visitor.open("/forgot-password").press("Send reset link", identifier=ada.email)
    assert page.heading == "Check your email"
    assert "Spring Fair" in page.html


@pytest.mark.parametrize("path", ["/sign-in/mail", "/sign-in/device", "/sign-in/phone"])
def test_page_of_another_method_leads_to_the_sign_in(server: TenantServer, visitor: Visitor, path: str) -> None:
    allow_every_method(server)
    put_in_force(server, beginning_with("PasskeyLogin"))
    page = visitor.open(path)
    assert page.address.partition("?")[0].endswith("/login")
    assert "Sign in with a passkey" in page.text


def test_deleted_theme_falls_back_to_the_tenant(world: World, server: TenantServer, visitor: Visitor) -> None:
    theme_id = themed(server, signing_in_by("password"))
    assert "Spring Fair" in visitor.open("/login").html
    answered(ask(server, machine(server, "all"), "DELETE", f"{THEMES}/{theme_id}"))
    server.services.directory.clear_cache()
    page = visitor.open("/login")
    assert page.status == 200
    assert "Spring Fair" not in page.html


def test_theme_is_on_the_pages_of_a_device(world: World, server: TenantServer, visitor: Visitor) -> None:
    themed(server, signing_in_by("password"))
    grants = [DEVICE_GRANT, "refresh_token"]
    device = world.application("tv", secret=None, grant_types=grants, redirect_uris=[])
    started = device.start_device(scope="openid").json or {}
    page = visitor.open("/device").press("Continue", user_code=started["user_code"])
    assert page.is_sign_in
    assert "Spring Fair" in page.html


def test_theme_stays_when_the_page_is_opened_again(world: World, server: TenantServer, visitor: Visitor) -> None:
    themed(server, signing_in_by("email"))
    for page in (visitor.open("/login"), visitor.authorize(world.application("Shop"))):
        again = visitor.open(page.address)
        assert "Spring Fair" in again.html
        assert not has_password(again)


def test_query_stays_at_the_first_page(server: TenantServer, visitor: Visitor) -> None:
    put_in_force(server, signing_in_by("password"))
    assert "Password changed" in visitor.open("/login?reset=done").text


def test_page_that_is_opened_often_makes_no_loop(server: TenantServer, visitor: Visitor) -> None:
    put_in_force(server, signing_in_by("password"))
    attempts = [visitor.open("/login").query["attempt"] for _ in range(7)]
    assert len(set(attempts)) == len(attempts)
    assert visitor.open(f"/login?attempt={attempts[0]}").status == 200
    assert visitor.open("/login?attempt=unknown-attempt-of-nobody").status in (200, 400, 410)
