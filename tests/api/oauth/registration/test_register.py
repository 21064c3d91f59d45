"""Applications register themselves (RFC 7591, OpenID Connect Registration)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select, update

from app.contract.steps import AnyStep, ConsentStep, LoginStep, RedirectStep, RefusedStep
from app.identity.assembly.clean_up import expired_rows
from app.identity.directory.tenants.tables import applications
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.registrations import METADATA, Registrar, error_of
from tests.support.oauth.relying_party import Browser, Pkce, RelyingParty, claims_in, code_of, moved
from tests.support.oauth.world import NewWorld, World

OPEN = {"client_registration": {"mode": "open"}}
DISCOVERY = "/.well-known/openid-configuration"


@pytest.fixture
def open_world(new_world: NewWorld) -> World:
    return new_world(**OPEN)


@pytest.fixture
def registrar(open_world: World) -> Registrar:
    return Registrar(open_world)


def consented(browser: Browser, client: RelyingParty, **changed: str | None) -> str:
    """Answer the question of a registered application, and return its code."""
    step = browser.authorize(client.authorization_parameters(**changed), app=client.app, protocol=client.protocol)
    assert step.kind is ConsentStep, step
    return code_of(browser.consent(step.interaction_id or "", allow=True))


def test_registration_returns_credentials_and_metadata(registrar: Registrar) -> None:
    answer = registrar.register({**METADATA, "unknown": "ignored", "client_id": "chosen", "interface_access": "full"})
    made = answer.json or {}
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")
    assert made["client_id"] != "chosen"
    assert len(made["client_secret"]) >= 43
    assert made["client_secret_expires_at"] == 0
    assert made["client_id_issued_at"] == pytest.approx(registrar.world.services.clock.now().timestamp(), abs=5)
    hub_url = registrar.world.services.settings.hub_url(registrar.world.name)
    assert made["registration_client_uri"] == f"{hub_url}/api/oidc/register/{made['client_id']}"
    assert made["registration_access_token"]
    expected = {
        **METADATA,
        "application_type": "web",
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic",
        "scope": "openid profile email phone address offline_access",
    }
    assert expected.items() <= made.items()
    assert not {"unknown", "interface_access", "name", "protocol", "require_consent"} & made.keys()


def test_registered_application_signs_people_in_after_consent(registrar: Registrar, open_world: World) -> None:
    made = registrar.registered(token_endpoint_auth_method="client_secret_post")
    client, ada = registrar.relying_party(made), open_world.person("ada@example.test")
    code = consented(open_world.browser().signed_in(ada), client)
    tokens = client.redeem(code).json or {}
    assert claims_in(tokens["id_token"])["aud"] in (made["client_id"], [made["client_id"]])
    assert "refresh_token" not in tokens, "it did not register for the grant"
    assert "account:read" not in tokens["scope"]


def test_public_application_gets_no_secret_and_needs_pkce(registrar: Registrar, open_world: World) -> None:
    made = registrar.registered(token_endpoint_auth_method="none", grant_types=["authorization_code", "refresh_token"])
    assert not {"client_secret", "client_secret_expires_at"} & made.keys()
    client, pkce = registrar.relying_party(made), Pkce()
    browser = open_world.browser().signed_in(open_world.person("ada@example.test"))
    assert browser.authorize(client.authorization_parameters()).error == "invalid_request"
    code = consented(browser, client, code_challenge=pkce.challenge, code_challenge_method="S256")
    tokens = client.redeem(code, code_verifier=pkce.verifier).json or {}
    assert client.refresh(tokens["refresh_token"]).status_code == 200


def test_registered_method_is_enforced(registrar: Registrar, open_world: World) -> None:
    client = registrar.relying_party(registrar.registered())
    code = consented(open_world.browser().signed_in(open_world.person("ada@example.test")), client)
    assert error_of(client.redeem(code)) == (401, "invalid_client"), "the default is client_secret_basic"


def test_closed_tenant_neither_registers_nor_advertises(world: World) -> None:
    registrar = Registrar(world)
    assert error_of(registrar.register()) == (403, "access_denied")
    assert "registration_endpoint" not in (registrar.send("GET", DISCOVERY).json or {})


@pytest.mark.both_databases
def test_registration_endpoint_is_advertised_where_it_answers(registrar: Registrar, open_world: World) -> None:
    open_world.application("Shop", client_id="shop")
    open_world.application("Legacy", protocol="oauth", client_id="legacy")
    hub_url = open_world.services.settings.hub_url(open_world.name)
    for address, endpoint in (
        (DISCOVERY, "/api/oidc/register"),
        ("/service/oidc/shop/.well-known/openid-configuration", "/api/oidc/Shop/register"),
        ("/oauth/legacy/.well-known/oauth-authorization-server", "/api/oauth/Legacy/register"),
    ):
        metadata = registrar.send("GET", address).json or {}
        assert metadata["registration_endpoint"] == hub_url + endpoint
        registrar.registered(path=endpoint)


def test_application_registered_at_an_issuer_belongs_to_it(registrar: Registrar, open_world: World) -> None:
    open_world.application("Shop", client_id="shop")
    made = registrar.registered(path="/api/oidc/shop/register", token_endpoint_auth_method="client_secret_post")
    client = registrar.relying_party(made, app="Shop")
    browser = open_world.browser().signed_in(open_world.person("ada@example.test"))
    tokens = client.redeem(consented(browser, client)).json or {}
    assert claims_in(tokens["id_token"])["iss"] == f"{client.hub_url}/service/oidc/Shop"
    assert client.userinfo(tokens["access_token"]).status_code == 200
    assert browser.authorize(client.authorization_parameters(), app="other").part == "client"


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("path", ["/api/oidc/nothing/register", "/api/oauth/shop/register"])
def test_address_of_no_application_is_not_found(registrar: Registrar, open_world: World, path: str) -> None:
    open_world.application("Shop", client_id="shop")
    assert registrar.register(path=path).status_code == 404


@pytest.mark.parametrize(
    ("members", "grants", "types"),
    [
        ({}, ["authorization_code"], ["code"]),
        ({"response_types": ["code"]}, ["authorization_code"], ["code"]),
        (
            {"grant_types": ["urn:ietf:params:oauth:grant-type:device_code"], "redirect_uris": None},
            ["urn:ietf:params:oauth:grant-type:device_code"],
            None,
        ),
    ],
)
def test_grants_and_response_types_agree(
    registrar: Registrar, members: dict[str, Any], grants: list[str], types: list[str] | None
) -> None:
    made = registrar.registered(**members)
    assert (made["grant_types"], made.get("response_types")) == (grants, types)


def test_scopes_of_the_tenant_are_left_out(registrar: Registrar) -> None:
    made = registrar.registered(scope="openid email account:write roles permissions orders:read client:create")
    assert made["scope"] == "openid email"
    assert registrar.registered(scope="read write")["scope"] == "openid"


def test_whitelist_of_the_tenant_is_not_theirs(new_world: NewWorld) -> None:
    """An application without redirect URIs may use the tenant's whitelist only if the tenant configured it."""
    world = new_world(**OPEN, url_whitelist=("https://acme.example/back",))
    registrar = Registrar(world)
    made = registrar.registered(redirect_uris=None, grant_types=["urn:ietf:params:oauth:grant-type:device_code"])
    parameters = {
        "client_id": made["client_id"],
        "redirect_uri": "https://acme.example/back",
        "response_type": "code",
        "scope": "openid",
    }
    step = world.browser().authorize(parameters)
    assert (step.kind, step.part) == (RefusedStep, "redirect_uri")


def test_consent_is_asked_whatever_is_stored(registrar: Registrar, open_world: World) -> None:
    made = registrar.registered()
    client = registrar.relying_party(made)
    open_world.change(client, require_consent=False)
    browser = open_world.browser().signed_in(open_world.person("ada@example.test"))
    assert browser.authorize(client.authorization_parameters()).kind is ConsentStep
    assert browser.authorize(client.authorization_parameters(prompt="none")).error == "consent_required"


def test_defaults_of_the_registration_are_enforced(registrar: Registrar, open_world: World) -> None:
    made = registrar.registered(
        default_max_age=60, require_auth_time=True, default_acr_values=["acme:nist:level:1:re-auth"],
        token_endpoint_auth_method="client_secret_post",
    )  # fmt: skip
    aged = registrar.relying_party(
        registrar.registered(default_max_age=60, token_endpoint_auth_method="client_secret_post")
    )
    browser, ada = open_world.browser(), open_world.person("ada@example.test")
    code = consented(browser.signed_in(ada), aged)
    assert "auth_time" in claims_in((aged.redeem(code).json or {})["id_token"])
    with moved(open_world.services, seconds=90):
        assert browser.authorize(aged.authorization_parameters()).reauthentication is not None
        assert browser.authorize(aged.authorization_parameters(max_age="600")).kind is RedirectStep
    client = registrar.relying_party(made)
    assert browser.authorize(client.authorization_parameters()).reauthentication is not None, (
        "default_acr_values asks for it"
    )
    assert browser.authorize(client.authorization_parameters(acr_values="1")).kind is ConsentStep


def test_too_many_registrations_of_one_network_wait(new_world: NewWorld) -> None:
    registrar = Registrar(new_world(**OPEN, limits={"register_clients_per_hour_per_address": 2}))
    for _ in range(2):
        registrar.registered()
    answer = registrar.register()
    assert error_of(answer) == (429, "temporarily_unavailable")
    assert int(answer.headers["Retry-After"]) > 0
    registrar.address = "203.0.113.21"
    registrar.registered()


def test_bounds_of_network_and_tenant_hold(new_world: NewWorld) -> None:
    bounds = {"mode": "open", "max_applications": 3, "max_applications_per_address": 2}
    registrar = Registrar(new_world(client_registration=bounds))
    for _ in range(2):
        registrar.registered()
    assert error_of(registrar.register()) == (403, "access_denied")
    registrar.address = "203.0.113.21"
    registrar.registered()
    registrar.address = "203.0.113.22"
    assert error_of(registrar.register()) == (403, "access_denied")


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_unused_application_is_removed_and_a_used_one_stays(new_world: NewWorld) -> None:
    world = new_world(client_registration={"mode": "open", "unused_days": 10})
    registrar, ada = Registrar(world), world.person("ada@example.test")
    unused = registrar.registered()
    client = registrar.relying_party(registrar.registered(token_endpoint_auth_method="client_secret_post"))
    configured = world.application("Shop", client_id="shop")
    with moved(world.services, days=8):
        browser = world.browser()
        tokens = client.redeem(consented(browser.signed_in(ada), client)).json or {}
        assert tokens["access_token"]
    with moved(world.services, days=11):
        expired_rows.clean(world.services.database, world.services.clock.now())
        assert registrar.manage(unused).status_code == 401
        assert browser_step(world, client) is LoginStep
        assert browser_step(world, configured) is LoginStep
    with moved(world.services, days=19):
        expired_rows.clean(world.services.database, world.services.clock.now())
        assert browser_step(world, client) is RefusedStep


def browser_step(world: World, client: RelyingParty) -> type[AnyStep]:
    return world.browser().authorize(client.authorization_parameters()).kind


@pytest.mark.both_databases
def test_foreign_tenant_does_not_know_the_application(registrar: Registrar, new_world: NewWorld) -> None:
    client = registrar.relying_party(registrar.registered())
    assert browser_step(new_world(**OPEN), client) is RefusedStep


@pytest.mark.both_databases
def test_secrets_are_stored_as_digests(registrar: Registrar, open_world: World) -> None:
    made = registrar.registered()
    with UnitOfWork(open_world.services.database, open_world.tenant_id).separate_transaction() as work:
        where = (applications.c.tenant_id == open_world.tenant_id, applications.c.client_id == made["client_id"])
        row = work.run(select(applications).where(*where)).one()
        stored = json.dumps([str(item) for item in row])
        assert made["client_secret"] not in stored
        assert made["registration_access_token"] not in stored
        work.run(update(applications).where(*where).values(registered_by="open"))
    assert (row.registered_by, row.registered_from) == ("open", registrar.address)


def test_registration_is_audited(registrar: Registrar, open_world: World) -> None:
    from app.identity.platform.audit import audit  # noqa: PLC0415 - only here

    made = registrar.registered()
    with UnitOfWork(open_world.services.database, open_world.tenant_id).separate_transaction() as work:
        rows = work.run(select(audit).where(audit.c.tenant_id == open_world.tenant_id)).all()
    assert [(row.client_id, row.event) for row in rows if row.event == "application.registered"] == [
        (made["client_id"], "application.registered")
    ]
