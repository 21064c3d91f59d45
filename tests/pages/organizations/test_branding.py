"""The look of an organization on the pages of a sign-in that is for it, and on its invitations."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from app.contract.applications.file import DEVICE_GRANT
from app.hub.tenants.branding import PageBranding
from tests.support.accounts.mailbox import mails_to
from tests.support.journeys.account_security import signed_in
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.invitations import GUEST, InvitingBusiness
from tests.support.organizations.members import Company, organization_in
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

COLOUR, LOGO = "#0a7d55", "https://globex.example/logo.svg"
LOOK = {"Name": "Globex Gardens", "LogoURL": LOGO, "Color": COLOUR}
TOKENS = PageBranding("", COLOUR).tokens
BRAND = TOKENS[TOKENS.index("--brand:") :].partition(";")[0]


@pytest.fixture
def app(world: World) -> RelyingParty:
    return world.application("Crm", client_name="Acme Shop", organization_usage="allow")


@pytest.fixture
def globex(company: Company) -> str:
    return company.business.create("globex", Display=LOOK)


def shows_globex(page: VisitedPage) -> bool:
    """Return whether a page shows all of the look, and allows the logo; and fail if it shows a part of it."""
    assert page.answer is not None
    policy = page.answer.headers["Content-Security-Policy"]
    parts = [BRAND in page.html, LOGO in page.html, "https://globex.example" in policy, "Globex Gardens" in page.text]
    assert len(set(parts)) == 1, parts
    return parts[0]


@pytest.mark.parametrize("how", ["globex", "GLOBEX", "the id"])
def test_sign_in_for_an_organization_shows_its_look(visitor: Visitor, app: RelyingParty, globex: str, how: str) -> None:
    page = visitor.authorize(app, organization=globex if how == "the id" else how)
    assert shows_globex(page)
    assert page.heading == "Sign in to Globex Gardens"
    assert "to continue to Acme Shop" in page.text
    assert not any(visitor.open(page.address).cost.values())
    assert shows_globex(page.press("Sign in", identifier="ada@example.test", password="wrong"))
    assert shows_globex(visitor.open(f"/register?attempt={page.query['attempt']}"))
    assert shows_globex(visitor.open(f"/forgot-password?attempt={page.query['attempt']}"))


def test_each_tab_keeps_its_own_look(visitor: Visitor, app: RelyingParty, globex: str) -> None:
    plain, page = visitor.authorize(app), visitor.authorize(app, organization="globex")
    assert not shows_globex(visitor.open(plain.address))
    assert shows_globex(visitor.open(page.address))
    assert not shows_globex(visitor.open("/login"))


@pytest.mark.both_databases
def test_unknown_organizations_look_alike(company: Company, visitor: Visitor, app: RelyingParty, globex: str) -> None:
    business = company.business
    business.deactivate(business.create("asleep", Display=LOOK))
    business.create("private")
    cost, plain = visitor.authorize(app, organization="globex").cost, visitor.authorize(app, organization="nowhere")
    assert plain.is_sign_in
    for name in ("asleep", "private", "nowhere", "o" * 300, "org_0000000000000000"):
        page = visitor.authorize(app, organization=name)
        assert not shows_globex(page)
        assert (page.status, page.comparable_text()) == (plain.status, plain.comparable_text())
        assert page.cost == cost


def test_switched_off_organizations_show_no_look(
    world: World, visitor: Visitor, app: RelyingParty, globex: str
) -> None:
    world.change_settings(organizations={"enabled": False})
    assert not shows_globex(visitor.authorize(app, organization="globex"))


def test_older_address_shows_the_look(visitor: Visitor, globex: str) -> None:
    for address in ("/auth?org_name=globex", "/auth.aspx?action=login&org=Globex", f"/auth?org_name={globex}"):
        page = visitor.open(address)
        assert page.heading == "Sign in to Globex Gardens"
        assert shows_globex(page)
    assert shows_globex(visitor.open("/auth?org_name=globex&action=register"))
    known, unknown = visitor.open("/auth?org_name=globex"), visitor.open("/auth?org_name=nowhere")
    assert (unknown.status, unknown.is_sign_in) == (200, True)
    assert unknown.cost == known.cost


@pytest.mark.both_databases
def test_older_address_names_the_organization_to_the_application(
    visitor: Visitor, company: Company, app: RelyingParty, globex: str
) -> None:
    """The authorization request in return_url gets `organization`, so the tokens are for it."""
    company.join(company.ada, globex, "Editor")
    request = urlencode(app.authorization_parameters())
    back = f"{visitor.home}/service/oidc/authorize?{request}"
    page = visitor.open(f"/auth?{urlencode({'org_name': 'globex', 'return_url': back})}")
    page = page.press("Sign in", identifier=company.ada.email, password=company.ada.password)
    token = answered(app.redeem(page.query["code"]))["id_token"]
    assert organization_in(token)["org_name"] == "globex"


def test_chosen_organization_shows_its_look(visitor: Visitor, world: World, company: Company, globex: str) -> None:
    app = world.application("Plan", organization_usage="prompt", require_consent=True)
    company.join(company.ada, globex, "Editor")
    page = visitor.authorize(app).press("Sign in", identifier=company.ada.email, password=company.ada.password)
    assert page.heading == "Choose an organization"
    assert BRAND not in page.html
    consent = page.press("Globex Gardens")
    assert shows_globex(consent)
    assert consent.address.partition("?")[0].endswith("/consent")


def test_device_for_a_chosen_organization_shows_its_look(
    visitor: Visitor, world: World, company: Company, globex: str
) -> None:
    settings: dict[str, Any] = {"grant_types": [DEVICE_GRANT], "redirect_uris": [], "organization_usage": "prompt"}
    tv = world.application("tv", secret=None, client_name="Acme TV", **settings)
    company.join(company.ada, globex, "Editor")
    page = visitor.open("/device").press("Continue", user_code=answered(tv.start_device())["user_code"])
    page = page.press("Sign in", identifier=company.ada.email, password=company.ada.password)
    assert page.heading == "Choose an organization"
    shown_page = page.press("Globex Gardens")
    assert shown_page.heading == "Connect Acme TV ?"
    assert shows_globex(shown_page)


def test_dark_mode_has_the_colour_too(visitor: Visitor, app: RelyingParty, globex: str) -> None:
    html = visitor.authorize(app, organization="globex").html
    assert TOKENS.partition("prefers-color-scheme:dark")[2][:60] in html


def test_changed_look_shows_at_the_next_sign_in(
    company: Company, visitor: Visitor, app: RelyingParty, globex: str
) -> None:
    look = {"Name": "Globex Farms", "LogoURL": None, "Color": None}
    company.business.send("PUT", f"/v2/manage/organizations/{globex}", {"Display": look})
    page = visitor.authorize(app, organization="globex")
    assert page.heading == "Sign in to Globex Farms"
    assert 'data-initial="GF"' in page.html
    assert BRAND not in page.html


def test_invitation_has_logo_and_colour(new_world: NewWorld, new_visitor_at: NewVisitorAt, identity_app: Any) -> None:
    world = new_world()
    key, secret = world.api_key, world.api_secret
    business = InvitingBusiness(TenantServer(world.services, identity_app, world.tenant_id, world.name, key, secret))
    business.send("PUT", f"/v2/manage/organizations/{business.org}", {"Display": LOOK})
    business.invite()
    (mail,) = mails_to(world.services, world.tenant_id, GUEST)
    shade = re.search(r'class="fill"[^>]*bgcolor="(#\w+)"', mail["html"])
    assert shade
    assert shade[1] in BRAND
    assert LOGO in mail["html"]
    visitor = new_visitor_at(world)
    page = visitor.open(f"/auth.aspx?invitation_token={business.token()}")
    assert shows_globex(page)
    assert shows_globex(page.press("Create account to join"))


@pytest.mark.parametrize("colour", ["red", "#12345", "#1234567", "#12345g", "var(--x)"])
def test_malformed_colour_is_refused(company: Company, colour: str) -> None:
    body = {"Name": "Initech", "Display": {"Color": colour}}
    assert company.business.send("POST", "/v2/manage/organizations", body).status_code == 400


def test_owner_changes_the_colour(company: Company, visitor: Visitor, app: RelyingParty, globex: str) -> None:
    company.join(company.ada, globex, "Owner", "org:own")
    signed_in(visitor, company.ada, "/profile")
    page = visitor.open(f"/organizations/settings?id={globex}")
    assert f'value="{COLOUR}"' in page.html
    wrong = page.press("Save changes", color="green")
    assert (wrong.status, "Enter a color such as #0b7a5b." in wrong.text) == (422, True)
    assert 'value="green"' in wrong.html
    assert "Saved" in page.press("Save changes", color="#A8245F").text
    visitor.forget("session")
    shown = visitor.authorize(app, organization="globex")
    assert (BRAND in shown.html, LOGO in shown.html) == (False, True)
    visitor.open(f"/organizations/settings?id={globex}").press(
        "Sign in", identifier=company.ada.email, password=company.ada.password
    )
    assert "Saved" in visitor.open(f"/organizations/settings?id={globex}").press("Save changes", color="").text
    visitor.forget("session")
    assert "Globex Gardens" in visitor.authorize(app, organization="globex").text


def test_pages_after_the_password_show_the_look(
    world: World, company: Company, visitor: Visitor, app: RelyingParty, globex: str
) -> None:
    world.change_settings(two_factor="required", second_factors={"email": False, "passkey": False})
    page = visitor.authorize(app, organization="globex")
    after = page.press("Sign in", identifier=company.ada.email, password=company.ada.password)
    assert after.address.partition("?")[0].endswith("/second-factor")
    assert shows_globex(after)


@pytest.mark.both_databases
def test_look_of_an_invitation_stays_until_its_end(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, identity_app: Any
) -> None:
    world = new_world()
    key, secret = world.api_key, world.api_secret
    business = InvitingBusiness(TenantServer(world.services, identity_app, world.tenant_id, world.name, key, secret))
    business.send("PUT", f"/v2/manage/organizations/{business.org}", {"Display": LOOK})
    business.invite()
    world.person(GUEST)
    visitor = new_visitor_at(world)
    page = visitor.open(f"/auth.aspx?invitation_token={business.token()}").press("Sign in to join")
    assert page.heading == "Sign in to Globex Gardens"
    assert shows_globex(page.press("Sign in", identifier=GUEST, password="wrong"))
    joined = page.press("Sign in", identifier=GUEST, password="correct horse 7")
    assert joined.heading == "Profile"
    assert not shows_globex(joined)
