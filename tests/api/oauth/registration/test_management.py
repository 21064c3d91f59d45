"""Applications read, replace and delete their registration (RFC 7592)."""

from __future__ import annotations

from typing import Any

import pytest
from joserfc.jwk import OctKey
from sqlalchemy import select

from app.contract.steps import ConsentStep, LoginStep, RefusedStep, StartAgainStep
from app.identity.platform.store.tables import all_tables
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.registrations import METADATA, Registrar, error_of
from tests.support.oauth.relying_party import Browser, RelyingParty, code_of
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import NewWorld, World
from tests.support.races import at_once
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.plain_client import PlainClient

POST = {"token_endpoint_auth_method": "client_secret_post"}
OF_THE_RESPONSE = {
    "registration_access_token",
    "registration_client_uri",
    "client_id_issued_at",
    "client_secret_expires_at",
}


@pytest.fixture
def registrar(new_world: NewWorld) -> Registrar:
    return Registrar(new_world(client_registration={"mode": "open"}))


def signed_in(registrar: Registrar, client: RelyingParty) -> tuple[Browser, dict[str, Any]]:
    """Give consent, and return the browser and the tokens."""
    browser = registrar.world.browser().signed_in(registrar.world.person("ada@example.test"))
    step = browser.authorize(client.authorization_parameters())
    return browser, client.redeem(code_of(browser.consent(step.interaction_id or "", allow=True))).json or {}


def changes(made: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Return the body that replaces a registration by itself, with some changes."""
    return {name: value for name, value in {**made, **changed}.items() if name not in OF_THE_RESPONSE}


def test_registration_is_read_without_its_secrets(registrar: Registrar) -> None:
    made = registrar.registered(contacts=["dev@calendar.example"])
    answer = registrar.manage(made)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    secrets = {"client_secret", "client_secret_expires_at", "registration_access_token"}
    assert answer.json == {name: value for name, value in made.items() if name not in secrets}


def test_replacement_rotates_the_token_and_resets_the_rest(registrar: Registrar) -> None:
    made = registrar.registered(contacts=["dev@calendar.example"], client_uri="https://calendar.example/", **POST)
    body = {
        "client_id": made["client_id"],
        "redirect_uris": ["https://calendar.example/new"],
        "client_name": "New name",
    }
    changed = registrar.manage(made, "PUT", body).json or {}
    assert changed["client_name"] == "New name"
    assert not {"contacts", "client_uri", "client_secret"} & changed.keys()
    assert changed["token_endpoint_auth_method"] == "client_secret_basic"
    assert error_of(registrar.manage(made)) == (401, "invalid_token")
    read = registrar.manage(changed).json or {}
    assert (read["redirect_uris"], read["client_id_issued_at"]) == (body["redirect_uris"], made["client_id_issued_at"])


def test_replacement_is_in_force_at_once(registrar: Registrar) -> None:
    made = registrar.registered(**POST)
    client = registrar.relying_party(made)
    browser, _ = signed_in(registrar, client)
    changed = registrar.manage(made, "PUT", changes(made, redirect_uris=["https://calendar.example/new"])).json or {}
    assert browser.authorize(client.authorization_parameters()).part == "redirect_uri"
    moved = registrar.relying_party({**changed, "client_secret": made["client_secret"]})
    code = code_of(browser.authorize(moved.authorization_parameters()))
    assert moved.redeem(code).status_code == 200, "the secret stays"


def test_secret_follows_the_method(registrar: Registrar) -> None:
    made = registrar.registered()
    public = (
        registrar.manage(made, "PUT", changes(made, client_secret=None, token_endpoint_auth_method="none")).json or {}
    )
    assert "client_secret" not in public
    confidential = registrar.manage(public, "PUT", changes(public, **POST)).json or {}
    assert (confidential["client_secret_expires_at"], confidential["client_secret"] != made["client_secret"]) == (
        0,
        True,
    )
    client = registrar.relying_party(confidential)
    assert signed_in(registrar, client)[1]["access_token"]


@pytest.mark.both_databases
def test_application_that_registers_to_sign_can_sign(registrar: Registrar) -> None:
    """Its secret is stored encrypted while it signs with it, and it has none while it signs with a key (decision 0210)."""

    def authenticates(signer: Signer) -> bool:
        return registrar.relying_party(made).back("introspect", {"token": "x", **signer.assertion()}).status_code == 200

    def change(**members: Any) -> dict[str, Any]:
        return registrar.manage(made, "PUT", changes(made, **members)).json or {}

    made = registrar.registered(token_endpoint_auth_method="client_secret_jwt")
    by_secret = Signer(registrar.relying_party(made), "HS256", OctKey.import_key(made["client_secret"]))
    assert authenticates(by_secret)
    keys = {"token_endpoint_auth_method": "private_key_jwt", "jwks": public_jwks(client_key("ES256"))}
    made = change(**keys, client_secret=None)
    assert "client_secret" not in made
    assert authenticates(Signer(registrar.relying_party(made)))
    assert not authenticates(by_secret)
    made = change(**POST, jwks=None)
    assert "client_secret" in made
    made = change(token_endpoint_auth_method="client_secret_jwt")
    assert authenticates(Signer(registrar.relying_party(made), "HS256", OctKey.import_key(made["client_secret"])))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"client_id": "another"}, "invalid_client_metadata"),
    ({"client_id": None}, "invalid_client_metadata"),
    ({"client_secret": "chosen by the application"}, "invalid_client_metadata"),
    ({"client_secret": 7}, "invalid_client_metadata"),
    ({"redirect_uris": ["http://calendar.example/"]}, "invalid_redirect_uri"),
    ({"grant_types": ["client_credentials"]}, "invalid_client_metadata"),
    ({"software_statement": "x"}, "invalid_software_statement"),
]


@pytest.mark.parametrize(("changed", "error"), WRONG)
def test_wrong_replacement_changes_nothing(registrar: Registrar, changed: dict[str, Any], error: str) -> None:
    made = registrar.registered()
    assert error_of(registrar.manage(made, "PUT", changes(made, **changed))) == (400, error)
    assert registrar.manage(made).status_code == 200, "the token still works"


@pytest.mark.both_databases
def test_deletion_ends_tokens_consents_and_the_registration(registrar: Registrar) -> None:
    made = registrar.registered(grant_types=["authorization_code", "refresh_token"], **POST)
    client = registrar.relying_party(made)
    browser, tokens = signed_in(registrar, client)
    answer = registrar.manage(made, "DELETE")
    assert (answer.status_code, answer.data) == (204, b"")
    assert registrar.manage(made).status_code == 401
    assert client.userinfo(tokens["access_token"]).status_code == 401
    assert client.refresh(tokens["refresh_token"]).status_code == 401
    assert browser.authorize(client.authorization_parameters()).kind is RefusedStep
    assert rows_of(registrar.world, made["client_id"]) == {}


def rows_of(world: World, client_id: str) -> dict[str, int]:
    """Return the number of rows of a client by table."""
    found = {}
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        for name, table in all_tables().items():
            if "client_id" in table.c and name != "audit":
                where = (table.c.tenant_id == world.tenant_id, table.c.client_id == client_id)
                found[name] = len(work.run(select(table.c.client_id).where(*where)).all())
    return {name: number for name, number in found.items() if number}


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_foreign_and_missing_tokens_are_refused(registrar: Registrar, new_world: NewWorld, method: str) -> None:
    made, other = registrar.registered(), registrar.registered()
    body = changes(made) if method == "PUT" else None
    path = f"/api/oidc/register/{made['client_id']}"
    assert error_of(registrar.manage(made, method, body, token=other["registration_access_token"])) == (
        401,
        "invalid_token",
    )
    assert error_of(registrar.send(method, path, body)) == (401, "invalid_token")
    assert error_of(registrar.manage(made, method, body, token=made["client_secret"])) == (401, "invalid_token")
    unknown = registrar.send(method, "/api/oidc/register/unknown", body, made["registration_access_token"])
    assert error_of(unknown) == (401, "invalid_token")
    foreign = Registrar(new_world(client_registration={"mode": "open"}))
    assert error_of(foreign.send(method, path, body, made["registration_access_token"])) == (401, "invalid_token")
    assert registrar.manage(made).status_code == 200


def test_configured_application_has_no_registration(registrar: Registrar) -> None:
    shop = registrar.world.application("Shop", client_id="shop")
    answer = registrar.send("GET", f"/api/oidc/register/{shop.client_id}", token=shop.secret or "")
    assert error_of(answer) == (401, "invalid_token")


def test_guesses_of_the_token_are_limited(registrar: Registrar) -> None:
    made = registrar.registered()
    answers = [registrar.manage(made, token=f"guess {number}") for number in range(25)]
    assert error_of(answers[-1]) == (429, "temporarily_unavailable")


@pytest.mark.both_databases
def test_one_of_many_replacements_gets_the_next_token(registrar: Registrar) -> None:
    made = registrar.registered()
    answers = at_once([lambda: registrar.manage(made, "PUT", changes(made, client_name="Raced"))] * 10)
    assert sorted({answer.status_code for answer in answers}) == [200, 401]
    won = [answer for answer in answers if answer.status_code == 200]
    assert len(won) == 1
    assert registrar.manage(won[0].json or {}).status_code == 200


def test_registration_stays_manageable_after_the_tenant_closed(registrar: Registrar) -> None:
    made = registrar.registered()
    registrar.world.change_settings(client_registration={"mode": "closed"})
    assert registrar.manage(made).status_code == 200
    assert registrar.register().status_code == 403


@pytest.mark.both_databases
def test_registrations_are_among_the_managed_clients(acme: TenantServer) -> None:
    acme.change_settings(client_registration={"mode": "open"})
    base = f"http://{acme.name}.{acme.services.settings.hub_domain}"
    made = PlainClient(acme.app).post("/api/oidc/register", json=METADATA, base_url=base).json or {}
    holder = machine(acme, "client:read", "client:delete", "client:update")
    listed = answered(ask(acme, holder, "GET", "/v2/manage/oauth-clients"))["Data"]
    (shown,) = [item for item in listed if item["ClientId"] == made["client_id"]]
    assert (shown["RegisteredBy"], shown["DisplayName"]) == ("open", "Calendar")
    path = f"/v2/manage/oauth-clients/{shown['AppName']}"
    changed = answered(ask(acme, holder, "PUT", path, {"IsActive": False}))
    assert (changed["RegisteredBy"], changed["IsActive"]) == ("open", False)
    bearer = {"Authorization": f"Bearer {made['registration_access_token']}"}
    address, body = f"/api/oidc/register/{made['client_id']}", changes(made, client_name="Diary", client_secret=None)
    body = {name: value for name, value in body.items() if value is not None}
    replaced = PlainClient(acme.app).put(address, json=body, base_url=base, headers=bearer).json or {}
    bearer = {"Authorization": f"Bearer {replaced['registration_access_token']}"}
    shown = answered(ask(acme, holder, "GET", path))
    assert (shown["DisplayName"], shown["IsActive"]) == ("Diary", False)
    answered(ask(acme, holder, "DELETE", path))
    assert PlainClient(acme.app).get(address, base_url=base, headers=bearer).status_code == 401


@pytest.mark.both_databases
def test_replacement_keeps_what_the_tenant_set(registrar: Registrar) -> None:
    made = registrar.registered(**POST)
    client = registrar.relying_party(made)
    registrar.world.change(client, is_active=False, access_token_seconds=60, optional_scopes=["email"])
    body = changes(made, client_name="Again", scope="openid profile")
    made = {**made, **(registrar.manage(made, "PUT", body).json or {})}
    browser = registrar.world.browser()
    assert browser.authorize(client.authorization_parameters()).part == "client", "the tenant blocked it"
    registrar.world.change(client, is_active=True)
    page = browser.authorize(client.authorization_parameters(scope="openid profile"))
    ada = registrar.world.person("ada@example.test")
    assert browser.sign_in(page.interaction_id, ada.email, ada.password).kind is ConsentStep
    tokens = client.redeem(code_of(browser.consent(page.interaction_id or "", allow=True))).json or {}
    assert (made["client_name"], tokens["expires_in"]) == ("Again", 60)


OTHERS: dict[str, tuple[dict[str, Any], bool]] = {
    "path": ({"redirect_uris": ["https://calendar.example/new"]}, False),
    "link": ({"policy_uri": "https://calendar.example/policy", "contacts": ["a@calendar.example"]}, False),
    "host": ({"redirect_uris": ["https://calendar.example/cb", "https://diary.example/cb"]}, True),
    "scheme": ({"redirect_uris": ["https://calendar.example/cb", "com.example.diary:/cb"]}, True),
    "name": ({"client_name": "Your bank"}, True),
    "name by language": ({"client_name#de": "Deine Bank"}, True),
}
"""Replacements, and whether people are asked again: they know an application by its name and where it leads."""


@pytest.mark.both_databases
def test_consent_is_for_the_application_that_was_shown(registrar: Registrar, subtests: pytest.Subtests) -> None:
    ada = registrar.world.person("ada@example.test")
    for name, (changed, is_prompted) in OTHERS.items():
        with subtests.test(name):
            made = registrar.registered(**POST, application_type="native")
            client, browser = registrar.relying_party(made), registrar.world.browser().signed_in(ada)
            other = registrar.relying_party(registrar.registered(**POST, application_type="native"))
            for item in (client, other):
                page = browser.authorize(item.authorization_parameters())
                assert code_of(browser.consent(page.interaction_id or "", allow=True))
            replaced = registrar.manage(made, "PUT", changes(made, **changed)).json or {}
            address = replaced["redirect_uris"][-1]
            step = browser.authorize(client.authorization_parameters(redirect_uri=address))
            assert (step.kind is ConsentStep) == is_prompted
            assert code_of(browser.authorize(other.authorization_parameters())), "consent to another application"


def test_renames_of_a_registration_are_limited(registrar: Registrar) -> None:
    made, other = registrar.registered(**POST), registrar.registered(**POST)
    for number in range(10):
        made |= registrar.manage(made, "PUT", changes(made, client_name=f"Name {number}")).json or {}
    assert registrar.manage(made, "PUT", changes(made, client_name="Again")).status_code == 429
    assert registrar.manage(made, "PUT", changes(made, contacts=["dev@calendar.example"])).status_code == 200
    assert registrar.manage(other, "PUT", changes(other, client_name="Again")).status_code == 200


REPLACED: dict[str, dict[str, Any]] = {
    "address": {"redirect_uris": ["https://calendar.example/new"]},
    "push": {"require_pushed_authorization_requests": True},
    "signature": {"require_signed_request_object": True, "jwks": public_jwks(client_key("ES256"))},
    "response mode": {"response_modes": ["jwt"]},
    "public": {"token_endpoint_auth_method": "none"},
    "scope": {"scope": "openid"},
    "grant": {"grant_types": ["implicit"], "response_types": ["id_token"]},
}
"""Replacements after which the first request would be refused."""


def test_replaced_registration_ends_its_open_sign_ins(registrar: Registrar, subtests: pytest.Subtests) -> None:
    ada = registrar.world.person("ada@example.test")
    for name, changed in {**REPLACED, "deleted": {}}.items():
        with subtests.test(name):
            made = registrar.registered(**POST)
            client = registrar.relying_party(made)
            browser = registrar.world.browser()
            page = browser.authorize(client.authorization_parameters(scope="openid email"))
            assert page.kind is LoginStep
            assert browser.sign_in(page.interaction_id, ada.email, ada.password).kind is ConsentStep
            answer = (
                registrar.manage(made, "PUT", changes(made, **changed)) if changed else registrar.manage(made, "DELETE")
            )
            assert answer.status_code in (200, 204), answer.text
            step = browser.consent(page.interaction_id or "", allow=True)
            assert (step.kind, step.address) == (StartAgainStep, None)
