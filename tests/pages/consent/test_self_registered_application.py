"""Pages of an application that registered itself: who it is, its logo and links, and where a sign-in with it starts."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import quote

import pytest

from app.hub.client.known_names import MAX_MISSES
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.registrations import Registrar
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import World
from tests.support.visitors.visitor import VisitedPage, Visitor

PASSWORD = "correct horse 7"
PNG = b"\x89PNG\r\n\x1a\npixels"


@pytest.fixture
def registrar(world: World) -> Registrar:
    world.change_settings(client_registration={"mode": "open"})
    return Registrar(world)


def consent_page(world: World, visitor: Visitor, client: RelyingParty) -> VisitedPage:
    ada = world.person("ada@example.com")
    return visitor.authorize(client).press("Sign in", identifier=ada.email, password=PASSWORD)


def test_consent_names_the_host_that_gets_the_data(world: World, visitor: Visitor, registrar: Registrar) -> None:
    links = {
        "client_uri": "https://bank.example/",
        "policy_uri": "https://calendar.example/p",
        "tos_uri": "https://calendar.example/t",
    }
    page = consent_page(world, visitor, registrar.relying_party(registrar.registered(**links)))
    assert page.heading.startswith("Calendar wants to use")
    assert "Do you know this app?" in page.text
    assert "calendar.example" in page.text
    assert "bank.example" not in page.text, "its own word does not say who it is"
    assert {"https://calendar.example/p", "https://calendar.example/t"} <= set(re.findall(r'href="([^"]+)"', page.html))


@pytest.mark.parametrize(
    ("uri", "sentence"),
    [
        ("com.example.editor:/cb", "just came from the app that opens com.example.editor: links on this device."),
        ("http://127.0.0.1:7777/cb", "just opened this app on this device."),
    ],
)
def test_consent_names_an_app_on_this_device(
    world: World, visitor: Visitor, registrar: Registrar, uri: str, sentence: str
) -> None:
    client = registrar.relying_party(registrar.registered(redirect_uris=[uri]))
    assert sentence in consent_page(world, visitor, client).text


def test_configured_application_has_no_warning(world: World, visitor: Visitor) -> None:
    client = world.application("shop", require_consent=True)
    assert "Do you know this app?" not in consent_page(world, visitor, client).text


@pytest.mark.both_databases
def test_logo_is_a_copy_on_the_tenants_host(
    world: World, visitor: Visitor, registrar: Registrar, fake_provider: FakeProvider
) -> None:
    fake_provider.answers["/logo"] = (200, {"Content-Type": "image/png"}, PNG)
    made = registrar.registered(logo_uri=f"{fake_provider.url}/logo")
    page = consent_page(world, visitor, registrar.relying_party(made))
    (source,) = re.findall(r'src="(/application-logo/[^"]+)"', page.html)
    assert page.answer
    assert fake_provider.url not in str(page.answer.headers["Content-Security-Policy"]) + page.answer.text
    answer = page.visitor.client.get(source, base_url=page.visitor.home)
    assert (answer.status_code, answer.data, answer.content_type) == (200, PNG, "image/png")
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    requested = fake_provider.requests_to("/logo")
    assert requested == 1, "at the registration alone"
    unknown = [page.visitor.calls_for(f"/application-logo/{number:064}", 404) for number in range(50)]
    assert sum(unknown) == MAX_MISSES + 1
    assert page.visitor.calls_for(source, 200) == 1, "a stored logo is shown meanwhile"


def test_link_back_starts_a_sign_in_at_the_application(world: World, visitor: Visitor, registrar: Registrar) -> None:
    """OpenID Connect Core section 4: the application learns from which issuer the sign-in is to come."""
    world.application("Shop", client_id="shop")
    for path, issuer in (("/api/oidc/register", ""), ("/api/oidc/shop/register", "/service/oidc/Shop")):
        made = registrar.registered(path=path, initiate_login_uri="https://calendar.example/start?x=1")
        client = registrar.relying_party(made, redirect_uri="https://other.example/")
        iss = quote(client.hub_url + issuer, safe="")
        assert f"https://calendar.example/start?x=1&iss={iss}" in unescape(visitor.authorize(client).html)


@pytest.mark.parametrize("digest", ["x", "0" * 64, "..%2f..", "x" * 500])
def test_unknown_logo_is_not_found(visitor: Visitor, digest: str) -> None:
    assert visitor.client.get(f"/application-logo/{digest}", base_url=visitor.home).status_code == 404


@pytest.mark.parametrize(
    ("languages", "name", "terms"),
    [("de", "Kalender", "https://calendar.example/de"), ("en", "Calendar", "https://calendar.example/en")],
)
def test_consent_shows_name_and_links_of_its_language(
    world: World, visitor: Visitor, registrar: Registrar, languages: str, name: str, terms: str
) -> None:
    """RFC 7591 section 2.2."""
    localized = {"client_name#de": "Kalender", "tos_uri#de": "https://calendar.example/de"}
    client = registrar.relying_party(registrar.registered(tos_uri="https://calendar.example/en", **localized))
    ada = world.person("ada@example.com")
    page = visitor.authorize(client, ui_locales=languages)
    submit = "Anmelden" if languages == "de" else "Sign in"
    page = page.press(submit, identifier=ada.email, password=PASSWORD)
    assert name in page.heading
    assert terms in re.findall(r'href="([^"]+)"', page.html)
