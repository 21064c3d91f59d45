"""The consent page names the scheme by which an application that registered itself gets its response."""

from __future__ import annotations

import pytest

from tests.support.oauth.registrations import Registrar
from tests.support.oauth.relying_party import Pkce
from tests.support.oauth.world import NewWorld
from tests.support.visitors.visitor import NewVisitorAt


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "just came from the app that opens {} links on this device."),
        ("de", "aus der App kommen, die auf diesem Gerät Links mit {} öffnet."),
        ("ar", "التطبيق الذي يفتح روابط {} على هذا الجهاز."),
    ],
)
@pytest.mark.parametrize("uri", ["cursor://anysphere.cursor/callback", "com.example.editor:/cb"])
def test_consent_names_the_scheme(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, uri: str, language: str, sentence: str
) -> None:
    world = new_world(client_registration={"mode": "open"})
    ada, registrar, pkce = world.person("ada@example.com"), Registrar(world), Pkce()
    made = registrar.registered(client_name="Editor", redirect_uris=[uri], token_endpoint_auth_method="none")
    challenge = {"code_challenge": pkce.challenge, "code_challenge_method": "S256"}
    visitor, editor = new_visitor_at(world), registrar.relying_party(made)
    visitor.authorize(editor, **challenge).press("Sign in", identifier=ada.email, password=ada.password)
    page = visitor.authorize(editor, **challenge, ui_locales=language)
    scheme = uri.partition(":")[0] + ":"
    assert sentence.format(scheme) in " ".join(page.text.split())


def test_consent_names_the_scheme_beside_a_home(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    """The home of an application is its own word; the scheme is where the response goes."""
    world = new_world(client_registration={"mode": "open"})
    ada, registrar, pkce = world.person("ada@example.com"), Registrar(world), Pkce()
    made = registrar.registered(
        redirect_uris=["claude://callback"], client_uri="https://bank.example/", token_endpoint_auth_method="none"
    )
    challenge = {"code_challenge": pkce.challenge, "code_challenge_method": "S256"}
    page = new_visitor_at(world).authorize(registrar.relying_party(made), **challenge)
    page = page.press("Sign in", identifier=ada.email, password=ada.password)
    assert "opens claude: links" in " ".join(page.text.split())
