"""Private-use schemes of applications that register themselves (RFC 8252 section 7.1): reverse domain order, or the tenant's list."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import update

from app.contract.applications.file import RedirectUri
from app.contract.oauth.registration_settings import ClientRegistration
from app.contract.steps import ConsentStep, RefusedStep, SignedOutStep
from app.identity.directory.tenants.tables import applications
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.registrations import CALLBACK, METADATA, Registrar, error_of
from tests.support.oauth.relying_party import Pkce, RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

OPEN = {"client_registration": {"mode": "open"}}
OF_SYSTEMS = [
    "ms-settings:x", "MS-Settings:x", "ms-word:ofe|u|https://x.example/", "ms-app://s-1-15/", "ms-msdt:/id", "search-ms:q=x",
    "chrome://x", "chrome://settings/x", "edge://x", "view-source:https://x.example/", "intent://x#Intent;end", "intent:x",
    "android-app://com.example/", "itms-services://?action=download-manifest", "facetime:x", "market://details", "tel:+1", "sms:+1",
    "mailto:ada@example.test", "ftp://x.example/", "steam://run/1", "magnet:?xt=x", "x-apple.systempreferences:x",
    "microsoft.windows.camera:", "Microsoft.Windows.Photos.Crop:x", "google.navigation:q=x", "google.streetview:cbll=1,2",
    "com.google.chrome.ios:x", "com.apple:x", "apple.x:y", "chrome.x:y",
    "com.apple.tv:x", "com.microsoft.print3d:x", "android.settings:x", "z39.50r://x.example/", "ms-settings.x:y",
]  # fmt: skip
ODD = [
    "a.:x", ".a:x", "a..b:x", "com.example.:x", "com.example-:x", "com.-example:x", "com.exa+mple:x", "c.example:x", "a+b:x",
    "javascript.:alert(1)", "com.ex_ample:/cb", "com.b\u00fccher:/cb", "com.example%2eapp:/cb", "%6aavascript:x", "java\tscript:x",
    f"com.{'a.' * 48}b:/cb",
    " com.example:/cb", "com.example :/cb", "com.example.app\n:/cb", "http://10.0.0.1/cb", "http://192.168.0.1/cb",
]  # fmt: skip
OF_BROWSERS_AND_SYSTEMS = [
    "ms-settings:x", "MS-Settings:x", "chrome://x", "search-ms:x", "intent:x", "microsoft-edge:https://x.example/", "googlechromes://x",
    "firefox://open-url?url=x", "itms-services://?action=x",
]  # fmt: skip
SCRIPTS = [
    "javascript:x",
    "JavaScript:x",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:x",
    "about:blank",
]
GOOD = [
    "com.example.app:/cb", "COM.Example.App:/cb", "com.example:", "com.1example.app-2:/cb", "xn--p1ai.example:/cb",
    "com.googleusercontent.apps.12-a1:/oauth2redirect", "cursor://anysphere.cursor/callback", "vscode://x/did-authenticate",
    "vscode-insiders://x/y", "claude://callback", "Cursor://x",
]  # fmt: skip


@pytest.fixture
def registrar(new_world: NewWorld) -> Registrar:
    return Registrar(new_world(client_registration={"mode": "open", "max_applications_per_address": 200}))


@pytest.mark.parametrize("uris", [OF_SYSTEMS, ODD, SCRIPTS], ids=["of systems", "odd", "scripts"])
def test_scheme_that_may_be_a_part_of_the_system_is_refused(
    registrar: Registrar, subtests: pytest.Subtests, uris: list[str]
) -> None:
    for number, uri in enumerate(uris):
        registrar.address = f"203.0.113.{number}"  # each network may ask so often
        native = {"client_name": "Calendar", "redirect_uris": [uri], "token_endpoint_auth_method": "none"}
        beside = {**native, "redirect_uris": ["com.example.app:/cb", uri]}
        with subtests.test(uri):
            for members in (native, {**native, "application_type": "native"}, beside):
                assert error_of(registrar.register(members)) == (400, "invalid_redirect_uri")
            signing_out = {**METADATA, "post_logout_redirect_uris": [uri]}
            assert error_of(registrar.register(signing_out)) == (400, "invalid_client_metadata")


def test_scheme_of_an_application_is_registered(registrar: Registrar, subtests: pytest.Subtests) -> None:
    for uri in GOOD:
        with subtests.test(uri):
            uris: dict[str, Any] = {"redirect_uris": [uri], "post_logout_redirect_uris": [uri]}
            made = registrar.registered(**uris, token_endpoint_auth_method="none")
            assert uris.items() <= made.items()
            assert made["application_type"] == "native"


def test_scheme_is_judged_with_a_token_and_at_a_replacement(new_world: NewWorld) -> None:
    registrar = Registrar(new_world(client_registration={"mode": "initial_access_token"}))
    token, wrong = registrar.initial_access_token(max_uses=3), {**METADATA, "redirect_uris": ["ms-settings:x"]}
    assert error_of(registrar.register(wrong, token=token)) == (400, "invalid_redirect_uri")
    made = registrar.registered(token=token)
    body = {"client_id": made["client_id"], **wrong}
    assert error_of(registrar.manage(made, "PUT", body)) == (400, "invalid_redirect_uri")
    body = {"client_id": made["client_id"], **METADATA, "post_logout_redirect_uris": ["chrome://x"]}
    assert error_of(registrar.manage(made, "PUT", body)) == (400, "invalid_client_metadata")
    assert (registrar.manage(made).json or {})["redirect_uris"] == [CALLBACK]


def test_scheme_in_a_document_is_judged(new_world: NewWorld, fake_provider: FakeProvider) -> None:
    world = new_world(client_registration={"client_id_documents": True})
    for uri, problem in (("ms-settings:x", "client"), ("com.example.app:/cb", None)):
        client_id = f"{fake_provider.url}/{len(uri)}.json"
        members = {"client_id": client_id, "client_name": "Editor", "redirect_uris": [uri]}
        answer = (200, {"Content-Type": "application/json"}, json.dumps(members).encode())
        fake_provider.answers[f"/{len(uri)}.json"] = answer
        client = RelyingParty(world.services, world.wsgi, world.name, world.api_key, client_id, uri, "editor")
        pkce = Pkce()
        parameters = client.authorization_parameters(code_challenge=pkce.challenge, code_challenge_method="S256")
        assert world.browser().authorize(parameters).part == problem


def test_tenant_lists_the_schemes_without_a_dot(new_world: NewWorld) -> None:
    for listed, allowed, others in (
        (["my-editor"], ["my-editor://x", "com.example.app:/cb"], ["cursor://x", "claude://x"]),
        ([], ["com.example.app:/cb"], ["cursor://x", "vscode://x", "my-editor://x"]),
    ):
        registrar = Registrar(new_world(client_registration={"mode": "open", "redirect_schemes": listed}))
        for uri in allowed:
            registrar.registered(redirect_uris=[uri])
        for uri in others:
            answer = registrar.register({**METADATA, "redirect_uris": [uri]})
            assert error_of(answer) == (400, "invalid_redirect_uri")
    description = (answer.json or {})["error_description"]
    assert "com.example.app" in description


@pytest.mark.parametrize(
    "scheme",
    [
        "javascript",
        "data",
        "file",
        "ms-settings",
        "search-ms",
        "chrome",
        "intent",
        "https",
        "http",
        "Cursor",
        "a b",
        "",
    ],
)
def test_tenants_list_has_schemes_of_applications_only(scheme: str) -> None:
    with pytest.raises(ValidationError):
        ClientRegistration.model_validate({"redirect_schemes": [scheme]})


def store_uris(world: World, client_id: str, uri: str) -> None:
    """Store what an earlier version accepted."""
    client = world.services.directory
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        where = (applications.c.tenant_id == world.tenant_id, applications.c.client_id == client_id)
        settings = {
            "name": "old", "protocol": "openid", "application_type": "native", "require_consent": True, "redirect_uris": [uri],
            "post_logout_redirect_uris": [uri], "token_endpoint_auth_method": "none",
        }  # fmt: skip
        work.run(update(applications).where(*where).values(settings=settings))
    client.clear_cache()


def test_stored_scheme_is_judged_at_each_use(registrar: Registrar) -> None:
    """What an earlier version registered, and what the tenant's list lost."""
    world = registrar.world
    made = registrar.registered(redirect_uris=["cursor://x"], token_endpoint_auth_method="none")
    browser, pkce = world.browser().signed_in(world.person("ada@example.test")), Pkce()
    for uri, is_led in (("cursor://x", True), ("ms-settings:x", False), ("chrome://x", False)):
        store_uris(world, made["client_id"], uri)
        client = registrar.relying_party(made, redirect_uri=uri)
        parameters = client.authorization_parameters(code_challenge=pkce.challenge, code_challenge_method="S256")
        step = browser.authorize(parameters)
        assert (step.kind is ConsentStep, step.part == "redirect_uri") == (is_led, not is_led)
        left = world.browser().sign_out(client_id=client.client_id, post_logout_redirect_uri=uri)
        assert (left.kind, left.address) == (SignedOutStep if is_led else RefusedStep, None)
    store_uris(world, made["client_id"], "cursor://x")
    world.change_settings(client_registration={"mode": "open", "redirect_schemes": []})
    assert browser.authorize({**parameters, "redirect_uri": "cursor://x"}).part == "redirect_uri"


def test_tenant_itself_registers_applications_schemes_only(acme: TenantServer, subtests: pytest.Subtests) -> None:
    token = machine(acme, "client:create", "all")

    def adds(number: int, uri: str, field: str) -> Any:
        body = {"AppName": f"Desk{number}", "RedirectURIs": ["https://desk.example/cb"], "ApplicationType": "Native"}
        return ask(acme, token, "POST", "/v2/manage/oauth-clients", {**body, field: [uri]})

    for field in ("RedirectURIs", "PostLogoutRedirectURIs"):
        for number, uri in enumerate((*SCRIPTS, *OF_BROWSERS_AND_SYSTEMS)):
            with subtests.test(uri):
                assert refused(adds(number, uri, field)) == (400, 7900)
                with pytest.raises(ValidationError):
                    TypeAdapter(RedirectUri).validate_python(uri)
    for number, uri in enumerate(("myapp://callback", "fb123://authorize", "ms-app://s-1-15-2/", "steam://run/1")):
        with subtests.test(uri):
            assert answered(adds(number, uri, "RedirectURIs"))["RedirectURIs"] == [uri]


LINKS = (
    "client_uri", "logo_uri", "policy_uri", "tos_uri", "initiate_login_uri", "client_uri#de", "tos_uri#de", "policy_uri#de",
)  # fmt: skip
FETCHED = (
    "jwks_uri", "sector_identifier_uri", "request_uris", "backchannel_logout_uri", "frontchannel_logout_uri",
)  # fmt: skip


def test_other_addresses_of_a_registration_are_web_addresses(registrar: Registrar, subtests: pytest.Subtests) -> None:
    """An address from an unauthenticated caller is opened by a browser or fetched by us."""
    wrong = (
        "ms-settings:x",
        "chrome://x",
        "cursor://x",
        "com.example.app:/x",
        "javascript:x",
        "//x.example",
        "file:///x",
    )
    for number, member in enumerate((*LINKS, *FETCHED)):
        registrar.address = f"203.0.113.{number}"  # each network may ask so often
        for uri in wrong:
            with subtests.test(f"{member} {uri}"):
                members: dict[str, Any] = {**METADATA, member: [uri] if member == "request_uris" else uri}
                assert error_of(registrar.register(members)) == (400, "invalid_client_metadata")
