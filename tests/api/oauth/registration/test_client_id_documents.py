"""Client-id metadata documents: the client_id is the address of a document that describes the application."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select

from app.contract.steps import ConsentStep, LoginStep, RefusedStep
from app.identity.assembly.clean_up import expired_rows
from app.identity.platform.outbound.openid_metadata import ProviderMetadataCache
from app.identity.platform.store.tables import all_tables
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.protocols.oauth.registration import client_documents
from app.identity.protocols.oauth.registration.client_documents import is_document
from app.kit.limits.rate_limits import Rate
from tests.support.fakes.identity_provider import FakeProvider, key
from tests.support.oauth.relying_party import Pkce, RelyingParty, code_of, moved
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import NewWorld, World
from tests.support.races import at_once
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.plain_client import PlainClient

CALLBACK = "http://127.0.0.1:33418/cb"
JSON_TYPE = {"Content-Type": "application/json"}
ON = {"client_registration": {"client_id_documents": True}}
Publish = Callable[..., str]


@pytest.fixture
def taking(new_world: NewWorld) -> World:
    return new_world(**ON)


@pytest.fixture
def publish(fake_provider: FakeProvider) -> Publish:
    """Publish the document of a code editor; a member that is None is left out. Return its client id."""

    def made(path: str = "/editor.json", **changed: Any) -> str:
        client_id = f"{fake_provider.url}{path}"
        members = {"client_id": client_id, "client_name": "Code Editor", "redirect_uris": [CALLBACK], **changed}
        present = {name: value for name, value in members.items() if value is not None}
        fake_provider.answers[path] = (200, JSON_TYPE, json.dumps(present).encode())
        return client_id

    return made


def editor(world: World, client_id: str, redirect_uri: str = CALLBACK) -> RelyingParty:
    return RelyingParty(world.services, world.wsgi, world.name, world.api_key, client_id, redirect_uri, "editor")


def requesting(client: RelyingParty, pkce: Pkce, **changed: str | None) -> dict[str, str | None]:
    proof = {"code_challenge": pkce.challenge, "code_challenge_method": "S256"}
    return client.authorization_parameters(**{**proof, **changed})


def test_document_signs_in_after_consent_with_its_host(
    taking: World, publish: Publish, fake_provider: FakeProvider
) -> None:
    client, pkce = editor(taking, publish(grant_types=["authorization_code", "refresh_token"])), Pkce()
    browser = taking.browser().signed_in(taking.person("ada@example.test"))
    step = browser.authorize(requesting(client, pkce))
    shown = step.relying_party
    assert step.kind is ConsentStep
    assert shown is not None
    assert (shown.name, shown.is_self_registered) == ("Code Editor", True)
    assert shown.document_host == fake_provider.url.removeprefix("http://")
    code = code_of(browser.consent(step.interaction_id or "", allow=True))
    tokens = client.redeem(code, code_verifier=pkce.verifier).json or {}
    assert client.refresh(tokens["refresh_token"]).status_code == 200
    assert browser.authorize(requesting(client, pkce)).kind is ConsentStep, (
        "any program of the device may ask in its name"
    )
    assert fake_provider.requests_to("/editor.json") == 1, "it is cached"


def test_tenant_that_takes_none_does_not_fetch(world: World, publish: Publish, fake_provider: FakeProvider) -> None:
    client = editor(world, publish())
    assert world.browser().authorize(requesting(client, Pkce())).part == "client"
    assert client.push().status_code == 401
    assert fake_provider.requests_to("/editor.json") == 0
    assert "client_id_metadata_document_supported" not in (client.get("/.well-known/openid-configuration").json or {})


def test_support_is_advertised(taking: World) -> None:
    metadata = editor(taking, "x").get("/.well-known/oauth-authorization-server").json or {}
    assert metadata["client_id_metadata_document_supported"] is True
    assert "registration_endpoint" not in metadata


def test_switching_off_ends_what_documents_began(taking: World, publish: Publish) -> None:
    client, pkce = editor(taking, publish()), Pkce()
    browser = taking.browser().signed_in(taking.person("ada@example.test"))
    step = browser.authorize(requesting(client, pkce))
    code = code_of(browser.consent(step.interaction_id or "", allow=True))
    tokens = client.redeem(code, code_verifier=pkce.verifier).json or {}
    taking.change_settings(client_registration={"client_id_documents": False})
    assert client.userinfo(tokens["access_token"]).status_code == 401
    assert browser.authorize(requesting(client, pkce)).part == "client"


WRONG: list[dict[str, Any]] = [
    {"client_id": "https://other.example/editor.json"},
    {"client_id": None},
    {"client_secret": "shared by everyone"},
    {"client_secret_expires_at": 0},
    {"token_endpoint_auth_method": "client_secret_basic"},
    {"token_endpoint_auth_method": "client_secret_jwt"},
    {"redirect_uris": None},
    {"redirect_uris": ["http://evil.example/cb"]},
    {"redirect_uris": ["javascript:alert(1)"]},
    {"grant_types": ["client_credentials"]},
    {"client_name": "x" * 200},
    {"token_endpoint_auth_method": []},
    {"contacts": ["ada\x00@example.test"]},
    {"software_id": "\ud800"},
    {"jwks": {"keys": [{**dict(client_key("ES256").as_dict(private=False)), "x5t": "\x00"}]}},
]


@pytest.mark.parametrize("changed", WRONG, ids="-".join)
def test_wrong_document_is_refused_on_the_page(taking: World, publish: Publish, changed: dict[str, Any]) -> None:
    client = editor(taking, publish(**changed))
    step = taking.browser().authorize(requesting(client, Pkce()))
    assert (step.kind, step.part) == (RefusedStep, "client")
    answer = client.push(code_challenge=Pkce().challenge)
    assert (answer.status_code, (answer.json or {})["error"]) == (401, "invalid_client")


@pytest.mark.parametrize(
    ("status", "content"),
    [(404, b"{}"), (302, b""), (200, b"[]"), (200, b"x" * 300_000), (200, b"{"), (200, b'{"a":' * 5_000), (500, b"")],
)
def test_unreadable_document_is_refused(
    taking: World, publish: Publish, fake_provider: FakeProvider, status: int, content: bytes
) -> None:
    client = editor(taking, publish())
    fake_provider.answers["/editor.json"] = (status, {**JSON_TYPE, "Location": f"{fake_provider.url}/keys"}, content)
    assert taking.browser().authorize(requesting(client, Pkce())).part == "client"


def test_redirect_uri_must_be_in_the_document(taking: World, publish: Publish) -> None:
    client = editor(taking, publish(), "https://evil.example/cb")
    assert taking.browser().authorize(requesting(client, Pkce())).part == "redirect_uri"


def test_old_document_is_read_again_and_a_removed_one_ends(
    taking: World, publish: Publish, fake_provider: FakeProvider
) -> None:
    client, pkce = editor(taking, publish()), Pkce()
    browser = taking.browser()
    assert browser.authorize(requesting(client, pkce)).kind is LoginStep
    with moved(taking.services, hours=2):
        publish(client_name="Renamed Editor")
        step = browser.authorize(requesting(client, pkce))
        assert step.relying_party is not None
        assert step.relying_party.name == "Renamed Editor"
    fake_provider.answers["/editor.json"] = (500, {}, b"")
    with moved(taking.services, hours=4):
        assert browser.authorize(requesting(client, pkce)).kind is LoginStep, "an outage does not end it at once"
    with moved(taking.services, hours=27):
        assert browser.authorize(requesting(client, pkce)).part == "client"
    fake_provider.answers["/editor.json"] = (404, {}, b"")
    with moved(taking.services, hours=4):
        assert browser.authorize(requesting(client, pkce)).part == "client", "its owner removed it"


def test_document_is_read_again_after_clock_was_put_back(taking: World, publish: Publish) -> None:
    client, pkce = editor(taking, publish()), Pkce()
    browser = taking.browser()
    with moved(taking.services, hours=5):
        assert browser.authorize(requesting(client, pkce)).kind is LoginStep
    publish(client_name="Renamed Editor")
    step = browser.authorize(requesting(client, pkce))
    assert step.relying_party is not None
    assert step.relying_party.name == "Renamed Editor"


@pytest.mark.both_databases
def test_document_that_is_read_again_stays_blocked(taking: World, publish: Publish) -> None:
    client, pkce, browser = editor(taking, publish()), Pkce(), taking.browser()
    assert browser.authorize(requesting(client, pkce)).kind is LoginStep
    taking.change(client, is_active=False, interface_access="full")
    with moved(taking.services, hours=2):
        publish(client_name="Renamed Editor")
        assert browser.authorize(requesting(client, pkce)).part == "client"
        taking.change(client, is_active=True)
        page = browser.authorize(requesting(client, pkce))
        assert page.relying_party is not None
        assert page.relying_party.name == "Renamed Editor"
        ada = taking.person("ada@example.test")
        step = browser.sign_in(page.interaction_id, ada.email, ada.password)
        assert {scope.name for scope in step.scopes} == {"openid", "email", "profile"}, (
            "powers are not for other metadata"
        )


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_blocked_document_is_not_removed_as_unused(acme: TenantServer, publish: Publish) -> None:
    acme.change_settings(**ON)
    client_id, base = publish(), f"http://{acme.name}.{acme.services.settings.hub_domain}"
    form = {"client_id": client_id, "redirect_uri": CALLBACK, "response_type": "code", "scope": "openid"}
    form |= {"code_challenge": Pkce().challenge, "code_challenge_method": "S256"}
    push = partial(PlainClient(acme.app).post, "/api/oidc/par", data=form, base_url=base)
    assert push().status_code == 201
    holder = machine(acme, "client:read", "client:update")
    listed = answered(ask(acme, holder, "GET", "/v2/manage/oauth-clients"))["Data"]
    (name,) = [item["AppName"] for item in listed if item["ClientId"] == client_id]
    answered(ask(acme, holder, "PUT", f"/v2/manage/oauth-clients/{name}", {"IsActive": False}))
    with moved(acme.services, days=100):
        expired_rows.clean(acme.services.database, acme.services.clock.now())
        assert (push().json or {})["error"] == "invalid_client"


@pytest.mark.both_databases
def test_consent_ends_when_the_document_gets_another_name(taking: World, publish: Publish) -> None:
    uri, pkce = "https://editor.example/cb", Pkce()
    client = editor(taking, publish(redirect_uris=[uri]), uri)
    browser = taking.browser().signed_in(taking.person("ada@example.test"))
    page = browser.authorize(requesting(client, pkce))
    assert code_of(browser.consent(page.interaction_id or "", allow=True))
    with moved(taking.services, minutes=90):
        assert code_of(browser.authorize(requesting(client, pkce))), "it was read again, and is the same"
        publish(redirect_uris=[uri], client_name="Your bank")
    with moved(taking.services, minutes=180):
        assert browser.authorize(requesting(client, pkce)).kind is ConsentStep


def test_configured_client_with_such_an_id_is_not_fetched(
    taking: World, publish: Publish, fake_provider: FakeProvider
) -> None:
    client = taking.application("shop", client_id=publish())
    assert taking.browser().authorize(client.authorization_parameters()).kind is LoginStep
    assert fake_provider.requests_to("/editor.json") == 0


def test_document_has_no_registration_to_manage(taking: World, publish: Publish) -> None:
    client = editor(taking, publish())
    taking.browser().authorize(requesting(client, Pkce()))
    answer = client.get("/api/oidc/register/x", headers={"Authorization": "Bearer "})
    assert answer.status_code == 401


@pytest.mark.both_databases
def test_first_requests_at_once_add_one_application(
    taking: World, publish: Publish, fake_provider: FakeProvider
) -> None:
    client = editor(taking, publish())
    steps = at_once([lambda: taking.browser().authorize(requesting(client, Pkce())).kind] * 10)
    assert set(steps) == {LoginStep}


def test_reads_of_one_network_are_limited(taking: World, publish: Publish, fake_provider: FakeProvider) -> None:
    client_id = f"{fake_provider.url}/nothing"
    steps = [taking.browser().authorize(requesting(editor(taking, f"{client_id}{n}"), Pkce())) for n in range(40)]
    assert {step.part for step in steps} == {"client"}
    assert sum(fake_provider.requests_to(f"/nothing{n}") for n in range(40)) == 30


def test_document_may_have_keys(taking: World, publish: Publish) -> None:
    keys = public_jwks(client_key("ES256"))
    client = editor(taking, publish(jwks=keys, token_endpoint_auth_method="private_key_jwt"))
    assert taking.browser().authorize(requesting(client, Pkce())).kind is LoginStep
    assert client.push(code_challenge=Pkce().challenge).status_code == 401


def test_keys_at_an_address_verify_the_first_request(
    taking: World, publish: Publish, fake_provider: FakeProvider
) -> None:
    client = editor(taking, publish(jwks_uri=f"{fake_provider.url}/keys"))
    signed = Signer(client, "RS256", key(1)).request_object(**requesting(client, Pkce()))
    step = taking.browser().authorize({"client_id": client.client_id, "request": signed})
    assert step.kind is LoginStep


def test_pushed_object_is_verified_by_keys_at_an_address(
    taking: World, publish: Publish, fake_provider: FakeProvider
) -> None:
    """No row is written before the keys are fetched, because the database connection is returned meanwhile."""
    client = editor(taking, publish(jwks_uri=f"{fake_provider.url}/keys"))
    assert taking.browser().authorize(requesting(client, Pkce())).kind is LoginStep
    stored = taking.services.provider_metadata
    taking.services.provider_metadata = ProviderMetadataCache(taking.services.clock, stored.resolver)
    signed = Signer(client, "RS256", key(1)).request_object(**requesting(client, Pkce()))
    answer = client.back("par", {"client_id": client.client_id, "request": signed})
    assert answer.status_code == 201, answer.text
    assert fake_provider.requests_to("/keys") == 2


def test_documents_of_one_network_are_bounded(new_world: NewWorld, publish: Publish) -> None:
    taking = new_world(client_registration={"client_id_documents": True, "max_applications_per_address": 2})
    ids = [publish(f"/editor{number}.json") for number in range(3)]
    steps = [taking.browser().authorize(requesting(editor(taking, item_id), Pkce())).kind for item_id in ids]
    assert steps == [LoginStep, LoginStep, RefusedStep]


def test_stored_document_outlives_a_full_window(
    taking: World, publish: Publish, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = editor(taking, publish())
    assert taking.browser().authorize(requesting(client, Pkce())).kind is LoginStep
    monkeypatch.setattr(client_documents, "_READS_OF_NETWORK", Rate(1, 60))
    with moved(taking.services, hours=2):
        assert taking.browser().authorize(requesting(client, Pkce())).kind is LoginStep, (
            "first reads have their own window"
        )
        assert fake_provider.requests_to("/editor.json") == 2
    with moved(taking.services, hours=4):
        assert taking.browser().authorize(requesting(client, Pkce())).kind is LoginStep
        assert fake_provider.requests_to("/editor.json") == 2, "the window is full"


@pytest.mark.both_databases
def test_anonymous_requests_do_not_keep_a_document(taking: World, publish: Publish) -> None:
    """Only a person who signs in moves the end of a registration."""
    client = editor(taking, publish())
    taking.browser().authorize(requesting(client, Pkce()))
    assert client.push(code_challenge=Pkce().challenge, code_challenge_method="S256").status_code == 201
    table = all_tables()["applications"]
    with UnitOfWork(taking.services.database, taking.tenant_id).separate_transaction() as work:
        row = work.one(select(table.c.created_at, table.c.expires_at).where(table.c.client_id == client.client_id))
    assert row is not None
    assert row.expires_at - row.created_at <= timedelta(days=1)


@pytest.mark.parametrize(
    "client_id",
    [
        "http://editor.example/client.json",
        "https://editor.example",
        "https://editor.example/",
        "https://editor.example/a/../client.json",
        "https://editor.example/./client.json",
        "https://editor.example/client.json#x",
        "https://editor.example/client.json?x=1",
        "https://user@editor.example/client.json",
        "https:///client.json",
        "ftp://editor.example/client.json",
        "editor",
        "",
    ],
)
def test_other_ids_are_no_documents(client_id: str) -> None:
    assert not is_document(client_id)
    assert is_document("https://editor.example:8443/oauth/client.json")
