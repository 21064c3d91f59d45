"""What an application that registered itself cannot do with its redirect URIs: borrow this host's name, or another's consent."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.steps import ConsentStep, RedirectStep, RefusedStep, SignedOutStep
from tests.support.oauth.registrations import CALLBACK, Registrar
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, code_of, parameters_of
from tests.support.oauth.world import NewWorld, World

BYE = "https://calendar.example/bye"
NATIVE = "http://127.0.0.1:7777/cb"


@pytest.fixture
def open_world(new_world: NewWorld) -> World:
    return new_world(client_registration={"mode": "open"})


@pytest.fixture
def registrar(open_world: World) -> Registrar:
    return Registrar(open_world)


@pytest.fixture
def signed_in(open_world: World, owner: Person) -> Browser:
    return open_world.browser().signed_in(owner)


@pytest.fixture
def owner(open_world: World) -> Person:
    return open_world.person("ada@example.test")


def agree(browser: Browser, requested: dict[str, Any]) -> str:
    step = browser.authorize(requested)
    assert step.kind is ConsentStep, step
    return code_of(browser.consent(step.interaction_id or "", allow=True))


WRONG = [
    ({"prompt": "none"}, "consent_required"),
    ({"response_type": "code token"}, "unauthorized_client"),
    ({"max_age": "x"}, "invalid_request"),
]


@pytest.mark.parametrize(("changed", "error"), WRONG)
def test_error_before_any_page_stays_here(
    registrar: Registrar, signed_in: Browser, changed: dict[str, str], error: str
) -> None:
    """(RFC 9700 section 4.11.2): a link to this host would send the browser to an address that any registrant chose."""
    client = registrar.relying_party(registrar.registered())
    parameters = client.authorization_parameters(**changed)
    for browser in (signed_in, registrar.world.browser()):
        step = browser.authorize(parameters)
        assert step.kind is RefusedStep, step
        assert (step.address, step.fields) == (None, None)
        assert step.relying_party is not None
        assert step.relying_party.name == "Calendar"
    assert signed_in.authorize(parameters).error == error
    agree(signed_in, client.authorization_parameters())
    stored = signed_in.authorize(parameters)
    assert stored.kind is RedirectStep, "the person knows the application"
    assert error == "consent_required" or parameters_of(stored)["error"] == error


def test_silent_renewal_works_after_consent(registrar: Registrar, signed_in: Browser) -> None:
    client = registrar.relying_party(registrar.registered())
    agree(signed_in, client.authorization_parameters())
    assert code_of(signed_in.authorize(client.authorization_parameters(prompt="none")))
    assert registrar.world.browser().authorize(client.authorization_parameters(prompt="none")).error == "login_required"


def test_refusal_on_the_page_goes_to_the_application(registrar: Registrar, signed_in: Browser) -> None:
    client = registrar.relying_party(registrar.registered())
    step = signed_in.authorize(client.authorization_parameters())
    assert parameters_of(signed_in.consent(step.interaction_id or "", allow=False))["error"] == "access_denied"


def test_tenant_of_a_test_suite_redirects_errors(new_world: NewWorld) -> None:
    world = new_world(client_registration={"mode": "open", "redirect_errors": True})
    registrar = Registrar(world)
    client = registrar.relying_party(registrar.registered())
    stored = parameters_of(world.browser().authorize(client.authorization_parameters(prompt="none")))
    assert (stored["error"], stored["state"]) == ("login_required", "a state")


def test_signed_out_user_gets_a_link_to_a_registered_application(
    registrar: Registrar, open_world: World, signed_in: Browser
) -> None:
    """(RFC 9700 section 4.11.2)"""
    made = registrar.registered(post_logout_redirect_uris=[BYE], token_endpoint_auth_method="client_secret_post")
    client = registrar.relying_party(made)
    step = open_world.browser().sign_out(client_id=client.client_id, post_logout_redirect_uri=BYE)
    assert (step.kind, step.address) == (SignedOutStep, None)
    assert step.relying_party is not None
    assert step.relying_party.home == CALLBACK.removesuffix("cb")
    hint = (client.redeem(agree(signed_in, client.authorization_parameters())).json or {})["id_token"]
    step = signed_in.sign_out(id_token_hint=hint, post_logout_redirect_uri=BYE)
    assert (step.kind, step.address) == (RedirectStep, BYE)


def native(registrar: Registrar, **changed: Any) -> RelyingParty:
    return registrar.relying_party(registrar.registered(**{"token_endpoint_auth_method": "none", **changed}))


@pytest.mark.parametrize("uri", [NATIVE, "com.example.editor:/cb"])
def test_self_registered_native_application_always_asks(registrar: Registrar, signed_in: Browser, uri: str) -> None:
    """(RFC 8252 section 8.6): its client id is no secret, and other programs of the device can receive the response."""
    client, pkce = native(registrar, redirect_uris=[uri]), Pkce()
    parameters = client.authorization_parameters(code_challenge=pkce.challenge, code_challenge_method="S256")
    agree(signed_in, parameters)
    agree(signed_in, parameters)
    assert parameters_of(signed_in.authorize({**parameters, "prompt": "none"}))["error"] == "consent_required"


def test_second_submit_of_a_native_applications_consent_answers(registrar: Registrar, signed_in: Browser) -> None:
    client, pkce = native(registrar, redirect_uris=[NATIVE]), Pkce()
    step = signed_in.authorize(
        client.authorization_parameters(code_challenge=pkce.challenge, code_challenge_method="S256")
    )
    codes = {code_of(signed_in.consent(step.interaction_id or "", allow=True)) for _ in range(2)}
    assert len(codes) == 2


@pytest.mark.both_databases("first")
@pytest.mark.parametrize(
    "members", [{}, {"redirect_uris": [NATIVE], "token_endpoint_auth_method": "client_secret_post"}]
)
def test_consent_of_an_identifiable_application_is_remembered(
    registrar: Registrar, signed_in: Browser, members: dict[str, Any]
) -> None:
    client, pkce = native(registrar, **members), Pkce()
    parameters = client.authorization_parameters(code_challenge=pkce.challenge, code_challenge_method="S256")
    agree(signed_in, parameters)
    assert code_of(signed_in.authorize(parameters))
