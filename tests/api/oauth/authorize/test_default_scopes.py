"""Requests without scope: they get the tenant's default scopes that the client may have, or `invalid_scope`."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.applications.file import DEVICE_GRANT
from app.contract.steps import ConsentStep
from tests.support.oauth.registrations import Registrar
from tests.support.oauth.relying_party import Person, Pkce, RelyingParty, code_of, parameters_of
from tests.support.oauth.world import NewWorld, World

DEFAULTS = ("email", "profile", "offline_access", "reports:read")


def scope_of(world: World, client: RelyingParty, ada: Person) -> set[str]:
    pkce = Pkce()
    browser = world.browser().signed_in(ada)
    parameters = client.authorization_parameters(scope=None, code_challenge=pkce.challenge)
    step = browser.authorize(parameters, app=client.app, protocol=client.protocol)
    if step.kind is ConsentStep:
        step = browser.consent(step.interaction_id or "", allow=True)
    answer = client.redeem(code_of(step), code_verifier=pkce.verifier)
    assert answer.status_code == 200, answer.text
    return set((answer.json or {}).get("scope", "").split())


def registered(world: World, **changed: Any) -> RelyingParty:
    registrar = Registrar(world)
    return registrar.relying_party(registrar.registered(**changed))


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(default_scopes=DEFAULTS, client_registration={"mode": "open"})


@pytest.fixture
def without(new_world: NewWorld) -> World:
    return new_world(client_registration={"mode": "open"})


def test_default_scopes_are_those_that_the_client_has(world: World) -> None:
    ada = world.person("ada@example.test")
    shop = world.application("shop", scope="openid email reports:read")
    assert scope_of(world, shop, ada) == {"openid", "email", "reports:read"}
    legacy = world.application("legacy", protocol="oauth", scope="profile")
    assert scope_of(world, legacy, ada) == {"profile"}
    client = registered(world, token_endpoint_auth_method="client_secret_post")
    assert scope_of(world, client, ada) == {"openid", "email", "profile"}
    narrow = registered(world, token_endpoint_auth_method="client_secret_post", scope="email")
    assert scope_of(world, narrow, ada) == {"openid", "email"}


@pytest.mark.parametrize("scope", [None, "", "  "])
def test_missing_scope_without_default_is_invalid_scope(without: World, scope: str | None) -> None:
    ada = without.person("ada@example.test")
    without.change_settings(client_registration={"mode": "open", "redirect_errors": True})
    for client in (without.application("shop"), registered(without, token_endpoint_auth_method="client_secret_post")):
        step = without.browser().signed_in(ada).authorize(client.authorization_parameters(scope=scope))
        assert parameters_of(step)["error"] == "invalid_scope"
        pushed = client.back("par", {**client.authorization_parameters(scope=None), "client_secret": client.secret})
        assert (pushed.status_code, (pushed.json or {})["error"]) == (400, "invalid_scope")


def test_client_with_none_of_the_defaults_is_refused(world: World) -> None:
    ada = world.person("ada@example.test")
    shop = world.application("shop", scope="openid phone", grant_types=["authorization_code"])
    world.change_settings(default_scopes=["email"])
    step = world.browser().signed_in(ada).authorize(shop.authorization_parameters(scope=None))
    assert parameters_of(step)["error"] == "invalid_scope"


def test_configured_oauth_client_may_go_without_scope(without: World) -> None:
    """As before: at OAuth 2.0 addresses the parameter is optional."""
    ada = without.person("ada@example.test")
    legacy = without.application("legacy", protocol="oauth")
    assert scope_of(without, legacy, ada) == set()


def test_device_without_scope_gets_the_defaults(world: World, without: World) -> None:
    members: dict[str, Any] = {
        "grant_types": [DEVICE_GRANT],
        "token_endpoint_auth_method": "none",
        "redirect_uris": None,
    }
    tvs = {
        item.name: item.application(
            "tv", secret=None, grant_types=[DEVICE_GRANT], redirect_uris=[], scope="openid email"
        )
        for item in (world, without)
    }
    for at, is_registered, expected in (
        (world, False, {"openid", "email"}), (world, True, {"openid", "email", "profile"}), (without, False, {"openid"}),
    ):  # fmt: skip
        ada, tv = at.person(f"ada{is_registered}@example.test"), tvs[at.name]
        client_id = Registrar(at).registered(**members)["client_id"] if is_registered else tv.client_id
        body = tv.back("device", {"client_id": client_id}).json or {}
        step = at.browser().signed_in(ada).type_code(body["user_code"])
        assert {scope.name for scope in step.scopes} == expected
    refused = tvs[without.name].back("device", {"client_id": Registrar(without).registered(**members)["client_id"]})
    assert (refused.status_code, (refused.json or {})["error"]) == (400, "invalid_scope")


def test_client_credentials_without_scope_get_the_defaults(world: World, without: World) -> None:
    for at, expected in ((world, {"reports:read"}), (without, set())):
        robot = at.application(
            "robot", grant_types=["client_credentials"], redirect_uris=[], scope="reports:read stock:write"
        )
        answer = robot.back("token", {"grant_type": "client_credentials", **robot.client_credentials()})
        assert answer.status_code == 200
        assert set((answer.json or {}).get("scope", "").split()) == expected
