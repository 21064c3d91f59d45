"""Resources (RFC 8707) that applications which registered themselves may name: those of the tenant's list."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.steps import ConsentStep, StartAgainStep
from tests.support.oauth.registrations import Registrar
from tests.support.oauth.relying_party import Browser, Pkce, RelyingParty, code_of, parameters_of
from tests.support.oauth.world import NewWorld, World

MCP, ROOT = "https://mcp.acme.example/mcp", "https://tools.acme.example"
REGISTRATION = {"mode": "open", "redirect_errors": True, "resources": [MCP, ROOT]}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(client_registration=REGISTRATION)


@pytest.fixture
def browser(world: World) -> Browser:
    return world.browser().signed_in(world.person("ada@example.test"))


@pytest.fixture
def client(world: World) -> RelyingParty:
    registrar = Registrar(world)
    return registrar.relying_party(
        registrar.registered(grant_types=["authorization_code", "refresh_token"], token_endpoint_auth_method="none")
    )


@pytest.fixture
def server(world: World) -> RelyingParty:
    """The resource server, which asks what a token is."""
    return world.application("server", resource_server=True)


def redeemed(browser: Browser, client: RelyingParty, at_token: str | None, **requested: str | None) -> dict[str, Any]:
    pkce = Pkce()
    step = browser.authorize(client.authorization_parameters(code_challenge=pkce.challenge, **requested))
    if step.kind is ConsentStep:
        step = browser.consent(step.interaction_id or "", allow=True)
    if "error" in parameters_of(step):
        return parameters_of(step)
    more = {"resource": at_token} if at_token else {}
    return dict(client.redeem(code_of(step), code_verifier=pkce.verifier, **more).json or {})


def test_token_is_for_the_named_resource(
    browser: Browser, client: RelyingParty, server: RelyingParty, subtests: pytest.Subtests
) -> None:
    for resource, at_token, audience in (
        (MCP, MCP, MCP), (MCP, None, MCP), (None, MCP, MCP), (ROOT, ROOT, ROOT), (f"{ROOT}/", ROOT, ROOT), (ROOT, f"{ROOT}/", ROOT),
        (f"{ROOT}:443/", f"{ROOT}/", ROOT), ("https://MCP.acme.example/mcp", MCP, MCP),
    ):  # fmt: skip
        with subtests.test(f"{resource} {at_token}"):
            stored = redeemed(browser, client, at_token, resource=resource)
            assert server.introspect(stored["access_token"])["aud"] == [audience]
            renewed = client.refresh(stored["refresh_token"], resource=f"{audience}/" if audience == ROOT else audience)
            assert server.introspect((renewed.json or {})["access_token"])["aud"] == [audience]


def test_other_resource_is_an_invalid_target(
    world: World, browser: Browser, client: RelyingParty, subtests: pytest.Subtests
) -> None:
    api = world.services.settings.base_url
    for resource in (
        "https://other.example", f"{MCP}/", f"{MCP}/x", f"{MCP}?x", "https://mcp.acme.example", "http://tools.acme.example", api, f"{api}/",
        f"{api}/identity", "urn:x", "https://tools.acme.example:99999", "https://tools.acme.example@evil.example",
    ):  # fmt: skip
        with subtests.test(resource):
            assert redeemed(browser, client, None, resource=resource)["error"] == "invalid_target"
            assert redeemed(browser, client, resource)["error"] == "invalid_target"
    assert redeemed(browser, client, ROOT, resource=MCP)["error"] == "invalid_target"


def test_list_is_for_registered_applications_alone(world: World, browser: Browser) -> None:
    shop = world.application("shop")
    assert redeemed(browser, shop, None, resource=MCP)["error"] == "invalid_target"
    own = world.application("own", resources=["https://orders.example"])
    assert "access_token" in redeemed(browser, own, None, resource="https://orders.example/")


def test_resource_that_left_the_list_ends(world: World, browser: Browser, client: RelyingParty) -> None:
    stored = redeemed(browser, client, MCP, resource=MCP)
    parameters = client.authorization_parameters(code_challenge=Pkce().challenge, resource=MCP, prompt="consent")
    step = browser.authorize(parameters)
    assert step.kind is ConsentStep
    world.change_settings(client_registration={**REGISTRATION, "resources": [ROOT]})
    assert browser.consent(step.interaction_id or "", allow=True).kind is StartAgainStep
    assert (client.refresh(stored["refresh_token"]).json or {})["error"] == "invalid_target"
