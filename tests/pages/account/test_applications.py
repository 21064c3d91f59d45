"""Applications with access to the account, revocation, and setting a first password."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from sqlalchemy import update

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.journeys.account_security import mails, signed_in
from tests.support.oauth.relying_party import Person, RelyingParty, claims_in
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada")


def authorize(visitor: Visitor, shop: RelyingParty, ada: Person, **changed: str) -> VisitedPage:
    page = visitor.authorize(shop, **changed)
    if page.answer is not None and page.is_sign_in:
        page = page.press("Sign in", identifier=ada.email, password=ada.password)
    return page if "code" in page.query else page.press("Allow access")


def test_revoked_application_loses_its_tokens_and_codes(world: World, visitor: Visitor, ada: Person) -> None:
    shop = world.application("shop", client_name="Acme Shop", require_consent=True)
    desk = world.application("desk", client_name="The Desk", require_consent=True)
    tokens = shop.redeem(authorize(visitor, shop, ada).query["code"]).json or {}
    desk_tokens = desk.redeem(authorize(visitor, desk, ada).query["code"]).json or {}
    unused_code = authorize(visitor, shop, ada).query["code"]
    page = visitor.open("/applications")
    assert "Acme Shop" in page.text
    assert "Confirm your identity" in page.text
    ended = page.press("Remove access", client_id=shop.client_id)
    assert "Access removed" in ended.text
    assert "Acme Shop" not in ended.text
    assert "The Desk" in ended.text
    assert shop.userinfo(tokens["access_token"]).status_code == 401
    assert (shop.refresh(tokens["refresh_token"]).status_code, shop.redeem(unused_code).status_code) == (400, 400)
    assert desk.userinfo(desk_tokens["access_token"]).status_code == 200
    assert visitor.authorize(shop).heading.endswith(f"wants to use your {world.name.title()} account")


def test_revocation_keeps_other_accounts_tokens(world: World, new_visitor: Any, ada: Person) -> None:
    shop = world.application("shop", client_name="Acme Shop")
    bob_tokens = shop.redeem(authorize(new_visitor(), shop, world.person("bob@example.com")).query["code"]).json or {}
    visitor = new_visitor()
    shop.redeem(authorize(visitor, shop, ada).query["code"])
    visitor.open("/applications").press("Remove access")
    assert "No apps have access to your account." in visitor.open("/applications").text
    assert shop.userinfo(bob_tokens["access_token"]).status_code == 200


def test_scopes_are_in_one_order_for_every_application(world: World, visitor: Visitor, ada: Person) -> None:
    shop = world.application("shop", client_name="Acme Shop")
    shop.redeem(authorize(visitor, shop, ada, scope="email profile openid").query["code"])
    text = visitor.open("/applications").text
    places = [text.index(name) for name in ("Confirm your identity", "See your name", "See your email address")]
    assert places == sorted(places)


def test_dangerous_scope_and_its_app_are_listed_first(world: World, visitor: Visitor, ada: Person) -> None:
    desk = world.application("desk", client_name="Zuse Desk", interface_access="full", require_consent=True)
    for application in (world.application("a", client_name="Acme Shop"), desk, world.application("z")):
        application.redeem(authorize(visitor, application, ada).query["code"])
    page = visitor.open("/applications")
    assert re.findall(r'id="one-1"><bdi>([^<]+)<', page.html) == ["Zuse Desk"]
    text = page.text
    assert text.index("Change anything in your account, even delete it") < text.index("Confirm your identity")


def test_foreign_form_token_revokes_nothing(world: World, visitor: Visitor, ada: Person) -> None:
    shop = world.application("shop", client_name="Acme Shop")
    shop.redeem(authorize(visitor, shop, ada).query["code"])
    assert visitor.open("/applications").press("Remove access", token="x").status == 403
    assert "Acme Shop" in visitor.open("/applications").text


@pytest.mark.both_databases
def test_first_password_needs_recent_authentication(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world()
    ada, visitor = tenant.person("ada@example.com"), new_visitor_at(tenant)
    signed_in(visitor, ada, "/security")
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        work.run(update(accounts).where(accounts.c.uid == ada.uid).values(password_hash=None))
    page = visitor.open("/change-password")
    assert page.heading == "Set password"
    weak = page.press("Save password", new_password="short")
    assert (weak.status, weak.title.startswith("Error: ")) == (422, True)
    pass_time(tenant.services, minutes=6)
    assert visitor.open("/set-password").heading == "Confirm it’s you", "a stale session must not set a password"
    stale = page.press("Save password", new_password="Zebra-kettle-92")
    assert stale.heading == "Confirm it’s you"
    pass_time(tenant.services, minutes=-6)
    assert "Password set" in page.press("Save password", new_password="Zebra-kettle-92").text
    assert len(mails(tenant, ada)) == 1
    assert visitor.open("/set-password").heading == "Change password"


@pytest.mark.both_databases
def test_interface_access_is_listed_and_revoked(world: World, visitor: Visitor, ada: Person) -> None:
    shop = world.application("shop", require_consent=True, interface_access="read")
    tokens = shop.redeem(authorize(visitor, shop, ada).query["code"]).json or {}
    page = visitor.open("/applications")
    assert "See your full profile, your consents and your passkeys" in page.text
    assert "Change your profile and consents" not in page.text
    page.press("Remove access")
    assert not shop.introspect(tokens["access_token"])["active"]


class TestOpenLinks:
    """Third-party-initiated login (OpenID Connect Core section 4) from the list of applications."""

    START = "https://shop.example/start?from=gatehouse"

    def link(self, page: VisitedPage) -> dict[str, str]:
        """Return the parameters of the link that opens the application."""
        found = re.findall(r'href="(https://shop\.example/start[^"]*)"[^>]*>Open<', page.html)
        return dict(parse_qsl(urlsplit(unescape(found[0])).query)) if found else {}

    def test_open_link_signs_in_the_same_account_at_the_application(
        self, world: World, visitor: Visitor, ada: Person
    ) -> None:
        settings = {"initiate_login_uri": self.START, "client_uri": "https://shop.example/home"}
        shop = world.application("shop", client_name="Acme Shop", require_consent=True, **settings)
        authorize(visitor, shop, ada)
        sent = self.link(visitor.open("/applications"))
        assert sent == {
            "from": "gatehouse",
            "iss": shop.hub_url,
            "login_hint": "ada@example.com",
            "target_link_uri": "https://shop.example/home",
        }
        assert "code" in visitor.authorize(shop, login_hint=sent["login_hint"]).query

    @pytest.mark.parametrize("subject_type", ["public", "pairwise"])
    def test_hint_is_what_the_application_has_already(
        self, world: World, visitor: Visitor, ada: Person, subject_type: str
    ) -> None:
        """Without the scope `email` it is the `sub` that the application has."""
        shop = world.application("shop", scope="openid", initiate_login_uri=self.START, subject_type=subject_type)
        body = shop.redeem(authorize(visitor, shop, ada, scope="openid").query["code"]).json or {}
        hint = self.link(visitor.open("/applications"))["login_hint"]
        assert hint == claims_in(body["id_token"])["sub"]
        assert (hint == ada.uid) is (subject_type == "public")
        assert "code" in visitor.authorize(shop, scope="openid", login_hint=hint).query

    @pytest.mark.parametrize(
        "start",
        [
            None,
            "http://shop.example/start",
            "javascript:alert(1)",
            "https://shop.example/start#part",
            "//shop.example/start",
        ],
        ids=["none", "http", "script", "fragment", "relative"],
    )
    def test_other_applications_have_no_link(
        self, world: World, visitor: Visitor, ada: Person, start: str | None
    ) -> None:
        """No registration takes such an address; a stored one leads no browser away either."""
        shop = world.application("shop", client_name="Acme Shop", initiate_login_uri=start)
        shop.redeem(authorize(visitor, shop, ada).query["code"])
        page = visitor.open("/applications")
        assert "Acme Shop" in page.text
        assert ">Open<" not in page.html

    def test_long_target_is_left_out(self, world: World, visitor: Visitor, ada: Person) -> None:
        home = "https://shop.example/" + "x" * 1_950
        shop = world.application("shop", initiate_login_uri=self.START, client_uri=home)
        shop.redeem(authorize(visitor, shop, ada).query["code"])
        assert self.link(visitor.open("/applications")).keys() == {"from", "iss", "login_hint"}
