"""Parameters of the interface at the authorization endpoint, and malformed requests, through the hub."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from app.identity.protocols.oauth.authorize import authorization_checks
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, UncheckedRequest
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.invitations import Guest, NewGuest
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, Visitor

PASSWORD = "correct horse 7"
AUTHORIZE = "/service/oidc/authorize"


@pytest.mark.parametrize("name", ["connection", "provider"])
def test_connection_leads_to_provider_without_login_page(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider, name: str
) -> None:
    world = new_world(connections={"globex": fake_provider.openid(title="Globex", trusts_email=True)})
    shop, visitor = world.application("shop"), new_visitor_at(world)
    redirected = visitor.authorize(shop, **{name: "Globex"})
    assert redirected.status == 0  # it left the hub
    claims = {"sub": "1", "email": "ada@example.test", "email_verified": True, "given_name": "Ada", "family_name": "L"}
    back = visitor.open(fake_provider.callback_url(redirected.address, **claims))
    assert back.query["code"]
    assert back.query["state"] == "a state"


@pytest.mark.parametrize("text", ["unknown", "off", "../x", "x" * 300, "globex%00"])
def test_unknown_connection_shows_sign_in_page(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider, text: str
) -> None:
    off = {**fake_provider.openid(title="Off"), "is_active": False}
    world = new_world(connections={"off": off})
    page = new_visitor_at(world).authorize(world.application("shop"), connection=text)
    assert (page.status, page.is_sign_in) == (200, True)


def test_signed_in_browser_needs_no_provider(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> None:
    world = new_world(connections={"globex": fake_provider.openid(title="Globex")})
    shop, ada, visitor = world.application("shop"), world.person("ada@example.com"), new_visitor_at(world)
    visitor.authorize(shop).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert visitor.authorize(shop, connection="globex").query["code"]


def test_invitation_token_joins_then_returns_to_request(new_guest: NewGuest) -> None:
    guest: Guest = new_guest()
    shop = guest.world.application("shop", client_id="shop")
    guest.sign_in()
    token = guest.link.rsplit("/", 1)[-1]
    page = guest.visitor.authorize(shop, invitation_token=token)
    assert page.heading == "Join Acme"
    back = page.press("Join organization")
    assert back.query["code"]
    assert (shop.redeem(back.query["code"]).json or {})["access_token"]
    assert len(guest.members()) == 1


def test_linking_id_changes_nothing(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop"), world.person("ada@example.com")
    page = visitor.authorize(shop, linking_id="x1", display="popup", ui_locales="de")
    assert page.language == "de"
    assert page.press("Anmelden", identifier=ada.email, password=PASSWORD).query["code"]


@pytest.mark.parametrize("name", ["workflow", "linking_id", "connection", "provider", "organization", "acr_values"])
def test_over_long_and_repeated_parameters_are_refused(world: World, visitor: Visitor, name: str) -> None:
    shop = world.application("shop")
    pairs = [(key, value) for key, value in shop.authorization_parameters().items() if value]
    for more in ([(name, "x" * 9_000)], [(name, "a"), (name, "b")]):
        answer = visitor.open(f"{AUTHORIZE}?{urlencode([*pairs, *more])}")
        assert (answer.query["error"], answer.query["state"]) == ("invalid_request", "a state")


def test_post_from_application_is_served(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop"), world.person("ada@example.com")
    form = {name: value for name, value in shop.authorization_parameters().items() if value}
    page = visitor.send("POST", visitor.home + AUTHORIZE, form)
    assert page.press("Sign in", identifier=ada.email, password=PASSWORD).query["code"]


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data; boundary=x", ""])
def test_post_of_another_content_type_never_redirects(world: World, visitor: Visitor, kind: str) -> None:
    shop = world.application("shop")
    body = urlencode({name: value for name, value in shop.authorization_parameters().items() if value})
    answer = visitor.client.post(AUTHORIZE, data=body, content_type=kind, base_url=visitor.home)
    target = urlsplit(answer.headers.get("Location", "")).netloc
    assert target in ("", urlsplit(visitor.home).netloc)
    assert "shop.example" not in answer.headers.get("Location", "")


def test_unproven_address_is_never_followed(world: World, visitor: Visitor) -> None:
    shop = world.application("shop")
    for uri in ("https://evil.example/cb", "https://shop.example/cb/", "//evil.example", "javascript:alert(1)"):
        for more in ({}, {"response_type": "token"}, {"prompt": "none"}, {"response_mode": "form_post"}):
            page = visitor.authorize(shop, redirect_uri=uri, **more)
            assert page.status == 400
            assert f'href="{uri}' not in page.html
            assert f'action="{uri}' not in page.html
            assert parse_qs(urlsplit(page.address).query).get("code") is None


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_added_check_refuses_a_signed_in_browser(
    world: World, new_visitor_at: NewVisitorAt, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """It must hold for a client and a browser whose last request was accepted."""
    shop, ada, visitor = world.application("shop"), world.person("ada@example.com"), new_visitor_at(world)
    visitor.authorize(shop).press("Sign in", identifier=ada.email, password=PASSWORD)
    sent = {name: value for name, value in shop.authorization_parameters().items() if value is not None}

    def authorize() -> dict[str, str]:
        if method == "GET":
            return visitor.open(f"{AUTHORIZE}?{urlencode(sent)}").query
        return visitor.send(method, f"{visitor.home}{AUTHORIZE}", sent).query

    def refuse(_request: UncheckedRequest) -> None:
        raise RefusedByRedirect("invalid_request", "The added check refuses.")

    assert authorize()["code"]
    monkeypatch.setattr(authorization_checks, "PARAMETER_CHECKS", (*authorization_checks.PARAMETER_CHECKS, refuse))
    for _ in range(2):
        refused = authorize()
        assert (refused["error_description"], "code" in refused) == ("The added check refuses.", False)
