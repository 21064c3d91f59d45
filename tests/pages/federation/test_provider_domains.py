"""Custom providers with a domain: addresses lead there, buttons follow the setting, and a domain is one provider's."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask

from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from tests.support.fakes.identity_provider import CLIENT, FakeProvider
from tests.support.oauth.world import NewWorld, World
from tests.support.races import at_once
from tests.support.tenants.configuration_files import applied
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

PROVIDERS = "/v2/manage/custom-providers"
DOMAIN = "partner.example"
MINA, NOBODY = f"mina@{DOMAIN}", f"nobody@{DOMAIN}"
BUTTON = "Continue with Partner AG"


@pytest.fixture
def tenant(new_world: NewWorld, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr("app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1)
    return new_world(identifier_first=True)


@pytest.fixture
def server(tenant: World, identity_app: Flask) -> TenantServer:
    return TenantServer(tenant.services, identity_app, tenant.tenant_id, tenant.name, tenant.api_key, tenant.api_secret)


@pytest.fixture
def visitor(tenant: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(tenant)


def by_api(server: TenantServer, upstream: FakeProvider, **changed: Any) -> None:
    """Set up an OAuth provider by the operation."""
    body = {
        "ProviderName": "partner", "FriendlyProviderName": "Partner AG", "UserLoginEndpoint": f"{upstream.url}/authorize",
        "AccessTokenEndpoint": f"{upstream.url}/token", "UserprofileEndpoint": f"{upstream.url}/user", "ApplicationKey": CLIENT,
        "ApplicationSecret": "the client secret", "DataMap": {"ID": "id"}, "Domain": DOMAIN, "EnableAutoLookUp": True, **changed,
    }  # fmt: skip
    answered(ask(server, machine(server, "all"), "POST", f"{PROVIDERS}/oauth", body))


NAMES = {"Domain": "domain", "EnableAutoLookUp": "enable_auto_look_up", "ListInInterface": "list_in_interface"}


def by_file(server: TenantServer, upstream: FakeProvider, **changed: Any) -> None:
    """Set up an OpenID Connect provider as a configuration file does."""
    members = {"domain": DOMAIN, "enable_auto_look_up": True, **{NAMES[name]: value for name, value in changed.items()}}
    connection = upstream.openid(title="Partner AG", secret="the client secret", **members)
    applied(server.services, file_of(server, connections={"partner": connection}))
    server.services.directory.clear_cache()


def file_of(server: TenantServer, **members: Any) -> str:
    return json.dumps({"tenants": [{"name": server.name, **members}]})


SET_UP = pytest.mark.parametrize("set_up", [by_api, by_file])


def appinfo(server: TenantServer) -> dict[str, Any]:
    shown: dict[str, Any] = answered(server.send("GET", "/ciam/appinfo"))
    return shown


def at_provider(upstream: FakeProvider, page: VisitedPage) -> bool:
    return page.address.startswith(f"{upstream.url}/authorize")


@SET_UP
def test_domain_leads_to_the_provider(
    server: TenantServer, visitor: Visitor, fake_provider: FakeProvider, set_up: Callable[..., None]
) -> None:
    assert appinfo(server)["IsAutoLookUpEnabled"] is False
    set_up(server, fake_provider)
    page = visitor.open("/login").press("Continue", identifier=MINA)
    assert at_provider(fake_provider, page)
    assert parse_qs(urlsplit(page.address).query).get("login_hint") == ([MINA] if set_up is by_file else None)
    assert appinfo(server)["IsAutoLookUpEnabled"] is True


def test_domain_leads_there_from_the_other_form(
    tenant: World, server: TenantServer, visitor: Visitor, fake_provider: FakeProvider
) -> None:
    """A password manager fills in both fields; the password is not verified."""
    tenant.change_settings(identifier_first=False)
    by_api(server, fake_provider)
    assert at_provider(fake_provider, visitor.open("/login").press("Sign in", identifier=MINA, password="a password"))


@SET_UP
def test_domain_without_look_up_leads_nowhere(
    server: TenantServer, visitor: Visitor, fake_provider: FakeProvider, set_up: Callable[..., None]
) -> None:
    set_up(server, fake_provider, EnableAutoLookUp=False)
    page = visitor.open("/login").press("Continue", identifier=MINA)
    assert "password" in page.form("Sign in").fields
    assert appinfo(server)["IsAutoLookUpEnabled"] is False


def test_inactive_provider_leads_nowhere(server: TenantServer, visitor: Visitor, fake_provider: FakeProvider) -> None:
    by_api(server, fake_provider, IsActive=False)
    assert "password" in visitor.open("/login").press("Continue", identifier=MINA).form("Sign in").fields


@pytest.mark.parametrize("other", [f"mina@mail.{DOMAIN}", f"mina@x{DOMAIN}", f"{DOMAIN}@elsewhere.example", DOMAIN])
def test_other_domains_lead_nowhere(
    server: TenantServer, visitor: Visitor, fake_provider: FakeProvider, other: str
) -> None:
    by_api(server, fake_provider)
    assert not at_provider(fake_provider, visitor.open("/login").press("Continue", identifier=other))


def test_people_with_and_without_account_are_led_alike(
    tenant: World, server: TenantServer, fake_provider: FakeProvider, new_visitor_at: NewVisitorAt
) -> None:
    by_api(server, fake_provider)
    tenant.person(MINA)
    pages = [new_visitor_at(tenant).open("/login").press("Continue", identifier=name) for name in (MINA, NOBODY)]
    assert [at_provider(fake_provider, page) for page in pages] == [True, True]
    assert pages[0].cost == pages[1].cost


def test_other_tenants_domain_leads_nowhere(
    server: TenantServer, fake_provider: FakeProvider, new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    by_api(server, fake_provider)
    other = new_visitor_at(new_world(identifier_first=True))
    assert "password" in other.open("/login").press("Continue", identifier=MINA).form("Sign in").fields


def test_denied_person_can_use_the_password(
    tenant: World, server: TenantServer, visitor: Visitor, fake_provider: FakeProvider
) -> None:
    """The way back: the page after a refusal leads to no provider again."""
    by_api(server, fake_provider)
    mina = tenant.person(MINA)
    redirected = visitor.open("/login").press("Continue", identifier=MINA)
    answer = fake_provider.refuses(redirected.address)
    page = visitor.open(f"/socialauth/validate.sauth?error=access_denied&state={answer['state']}")
    assert "Sign-in canceled" in page.text
    if 'id="identifier"' in page.html:
        page = page.press("Continue", identifier=MINA)
    assert page.press("Sign in", password=mina.password).heading == "Profile"


@SET_UP
def test_unlisted_provider_has_no_button(
    tenant: World, server: TenantServer, visitor: Visitor, fake_provider: FakeProvider, set_up: Callable[..., None]
) -> None:
    set_up(server, fake_provider)
    assert BUTTON in visitor.open("/login").text
    assert [item["Name"] for item in appinfo(server)["SocialSchema"]["Providers"]] == ["partner"]
    if set_up is by_api:
        answered(ask(server, machine(server, "all"), "DELETE", f"{PROVIDERS}/oauth/partner"))
    set_up(server, fake_provider, ListInInterface=False)
    assert BUTTON not in visitor.open("/login").text
    assert appinfo(server)["SocialSchema"]["Providers"] == []
    ada = tenant.person("ada@elsewhere.example")
    assert at_provider(fake_provider, visitor.open("/login").press("Continue", identifier=MINA)), (
        "the domain still leads"
    )
    assert at_provider(fake_provider, visitor.open("/sign-in/with?provider=partner")), "and so does a link"
    page = visitor.open("/login?step=identifier").press("Continue", identifier=ada.email)
    page.press("Sign in", password=ada.password)
    assert "Partner AG" not in visitor.open("/identities").text


@pytest.mark.parametrize(
    "parameters",
    [{"domain_hint": DOMAIN}, {"login_hint": MINA}, {"connection": "partner"}, {"provider": "Partner"}],
    ids=lambda item: next(iter(item)),
)
def test_authorization_request_redirects_at_once(
    tenant: World, server: TenantServer, visitor: Visitor, fake_provider: FakeProvider, parameters: dict[str, str]
) -> None:
    tenant.change_settings(organizations={"enabled": False})
    by_api(server, fake_provider, ListInInterface=False)
    assert at_provider(fake_provider, visitor.authorize(tenant.application("shop", client_name="Shop"), **parameters))


JWT = {"AppName": "Portal", "Algo": "HS256", "Key": "k" * 40, "LoginUrl": "https://portal.example/in", "Domain": DOMAIN}
SAML = {"Provider": "adfs", "DataMap": {"Email": "mail"}, "Domain": DOMAIN}
OAUTH = {
    "ProviderName": "other", "UserLoginEndpoint": "https://o.example/a", "AccessTokenEndpoint": "https://o.example/t",
    "UserprofileEndpoint": "https://o.example/u", "ApplicationKey": "k", "ApplicationSecret": "s", "DataMap": {"ID": "id"},
    "Domain": DOMAIN,
}  # fmt: skip
BODIES: dict[str, dict[str, Any]] = {"oauth": OAUTH, "jwt": JWT, "saml": SAML}


@pytest.mark.both_databases
@pytest.mark.parametrize("first", BODIES)
@pytest.mark.parametrize("second", BODIES)
def test_domain_of_another_provider_is_refused(server: TenantServer, first: str, second: str) -> None:
    token = machine(server, "all")
    answered(ask(server, token, "POST", f"{PROVIDERS}/{first}", BODIES[first]))
    renamed = {"ProviderName": "third", "AppName": "Third", "Provider": "third"}
    body = {name: renamed.get(name, value) for name, value in BODIES[second].items()}
    assert refused(ask(server, token, "POST", f"{PROVIDERS}/{second}", body)) == (409, 8038)
    answered(ask(server, token, "POST", f"{PROVIDERS}/{second}", {**body, "Domain": "free.example"}))


def test_domain_of_a_connection_of_the_file_is_refused(server: TenantServer, fake_provider: FakeProvider) -> None:
    by_file(server, fake_provider)
    for kind, body in BODIES.items():
        answer = ask(server, machine(server, "all"), "POST", f"{PROVIDERS}/{kind}", body)
        assert refused(answer) == (409, 8038), kind


def test_own_domain_can_be_sent_again(server: TenantServer, fake_provider: FakeProvider) -> None:
    by_api(server, fake_provider)
    again = {**OAUTH, "ProviderName": "Partner"}
    answered(ask(server, machine(server, "all"), "PUT", f"{PROVIDERS}/oauth", again))


IN_FILE: dict[str, Any] = {
    "connections": {"partner": {"key": "k", "issuer": "https://id.example", "domain": DOMAIN}},
    "jwt_providers": [{"app_name": "Portal", "algo": "HS256", "domain": DOMAIN}],
    "saml_providers": [{"provider": "adfs", "domain": DOMAIN}],
}


@pytest.mark.parametrize("first", IN_FILE)
@pytest.mark.parametrize("second", IN_FILE)
def test_file_with_a_domain_of_two_providers_is_refused(server: TenantServer, first: str, second: str) -> None:
    members: dict[str, Any] = {first: IN_FILE[first]}
    if first == second:
        stated: Any = IN_FILE[first]
        name = "app_name" if first == "jwt_providers" else "provider"
        members[first] = (
            {**stated, "second": stated["partner"]}
            if isinstance(stated, dict)
            else [*stated, {**stated[0], name: "Second"}]
        )
    else:
        members[second] = IN_FILE[second]
    with pytest.raises(ConfigurationError, match="domain"):
        applied(server.services, file_of(server, **members))


@pytest.mark.parametrize("kind", ["jwt", "saml"])
def test_file_refuses_a_domain_that_stays_beside_it(server: TenantServer, kind: str) -> None:
    answered(ask(server, machine(server, "all"), "POST", f"{PROVIDERS}/{kind}", BODIES[kind]))
    text = file_of(server, connections=IN_FILE["connections"])
    with pytest.raises(ConfigurationError, match=f"is already used by .* of {kind}_providers"):
        applied(server.services, text)
    applied(
        server.services, file_of(server, connections=IN_FILE["connections"], **{f"{kind}_providers": []}), prune=True
    )


def test_program_needs_all_powers_to_lead_a_domain(server: TenantServer) -> None:
    token = machine(server, "provider:create", "provider:update")
    answered(ask(server, token, "POST", f"{PROVIDERS}/oauth", OAUTH))
    assert refused(ask(server, token, "PUT", f"{PROVIDERS}/oauth", {**OAUTH, "EnableAutoLookUp": True}))[0] == 403


@pytest.mark.both_databases
def test_concurrent_providers_of_two_kinds_share_no_domain(server: TenantServer, fake_provider: FakeProvider) -> None:
    token = machine(server, "all")
    oauth = {
        "FriendlyProviderName": "Partner AG", "UserLoginEndpoint": f"{fake_provider.url}/authorize",
        "AccessTokenEndpoint": f"{fake_provider.url}/token", "UserprofileEndpoint": f"{fake_provider.url}/user",
        "ApplicationKey": CLIENT, "ApplicationSecret": "the client secret", "DataMap": {"ID": "id"}, "Domain": DOMAIN,
    }  # fmt: skip
    jwt = {"Algo": "HS256", "Key": "k" * 40, "LoginUrl": "https://portal.example/login", "Domain": DOMAIN}
    bodies = [("oauth", {**oauth, "ProviderName": f"partner{number}"}) for number in range(5)]
    bodies += [("jwt", {**jwt, "AppName": f"portal{number}"}) for number in range(5)]
    answers = at_once([partial(ask, server, token, "POST", f"{PROVIDERS}/{kind}", body) for kind, body in bodies])
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses[0] in (200, 201)
    assert [refused(answer) for answer in answers if answer.status_code == 409] == [(409, 8038)] * 9
