"""Home-realm discovery: an address leads to the provider of its domain, and tells nothing about accounts."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.organizations.connected_organization import DOMAIN, MINA, ConnectedOrganization, NewConnected
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import VisitedPage

PASSWORD = "correct horse 7"
NOBODY = f"nobody@{DOMAIN}"
APPINFO = "/ciam/appinfo"


@pytest.fixture
def two_steps(new_connected: NewConnected) -> ConnectedOrganization:
    return new_connected(settings={"identifier_first": True})


def at_provider(globex: ConnectedOrganization, page: VisitedPage) -> bool:
    return page.address.startswith(f"{globex.provider.url}/authorize")


def test_first_step_leads_to_the_provider(two_steps: ConnectedOrganization) -> None:
    page = two_steps.visitor.open("/login").press("Continue", identifier=MINA["email"])
    assert at_provider(two_steps, page)
    assert parse_qs(urlsplit(page.address).query)["login_hint"] == [MINA["email"]]
    assert two_steps.visitor.open(two_steps.callback(page)).profile_name == "Mina Harker"


def test_one_page_form_leads_to_the_provider(globex: ConnectedOrganization) -> None:
    """A password manager fills in both fields; the password is not verified."""
    globex.tenant.person(MINA["email"])
    for password in (PASSWORD, "wrong"):
        page = (
            globex.new_visitor_at(globex.tenant)
            .open("/login")
            .press("Sign in", identifier=MINA["email"], password=password)
        )
        assert at_provider(globex, page)


def test_people_with_and_without_account_are_led_alike(two_steps: ConnectedOrganization) -> None:
    two_steps.tenant.person(MINA["email"])
    pages = [
        two_steps.new_visitor_at(two_steps.tenant).open("/login").press("Continue", identifier=email)
        for email in (MINA["email"], NOBODY)
    ]
    assert [at_provider(two_steps, page) for page in pages] == [True, True]
    assert pages[0].cost == pages[1].cost


def test_other_domains_are_asked_for_a_password_alike(two_steps: ConnectedOrganization) -> None:
    two_steps.tenant.person("ada@elsewhere.example")
    emails = ("ada@elsewhere.example", "abe@elsewhere.example", "abe@unknown.example")
    pages = [
        two_steps.new_visitor_at(two_steps.tenant).open("/login").press("Continue", identifier=email)
        for email in emails
    ]
    texts = [page.comparable_text(email) for page, email in zip(pages, emails, strict=True)]
    assert texts[0] == texts[1] == texts[2]
    assert pages[0].cost == pages[1].cost == pages[2].cost


def test_denied_person_can_use_the_password(two_steps: ConnectedOrganization) -> None:
    """The way back: the page after a refusal leads to no provider again."""
    mina = two_steps.tenant.person(MINA["email"])
    redirected = two_steps.visitor.open("/login").press("Continue", identifier=mina.email)
    refused = two_steps.provider.refuses(redirected.address)
    query = f"error=access_denied&state={refused['state']}&iss={refused['iss']}"
    page = two_steps.visitor.open(f"/{two_steps.path}/callback?{query}")
    assert "Sign-in canceled" in page.text
    if "Continue" in page.text and 'id="identifier"' in page.html:
        page = page.press("Continue", identifier=mina.email)
    assert page.press("Sign in", password=mina.password).heading == "Profile"


def test_forms_may_lead_to_a_provider(globex: ConnectedOrganization) -> None:
    """Browsers check the form's `form-action` on each redirect that follows."""
    answer = globex.visitor.open("/login").answer
    assert answer is not None
    assert "form-action 'self' https:" in answer.headers["Content-Security-Policy"]


def test_unverified_domain_leads_nowhere(two_steps: ConnectedOrganization) -> None:
    two_steps.business.deactivate(two_steps.org)
    page = two_steps.visitor.open("/login").press("Continue", identifier=MINA["email"])
    assert "password" in page.form("Sign in").fields


def test_domain_of_jwt_provider_leads_to_its_page(two_steps: ConnectedOrganization) -> None:
    body = {
        "AppName": "portal", "Algo": "HS256", "Key": "k" * 40, "LoginUrl": "https://portal.example/login",
        "Domain": "initech.example", "EnableAutoLookUp": True,
    }  # fmt: skip
    server = two_steps.business.tenant
    token = machine(server, "all")
    answered(ask(server, token, "POST", "/v2/manage/custom-providers/jwt", body))
    page = two_steps.visitor.open("/login").press("Continue", identifier="peter@initech.example")
    assert page.address == "https://portal.example/login"


@pytest.mark.parametrize(
    "parameters",
    [
        {"connection": "{id}"},
        {"provider": "{id}"},
        {"domain_hint": DOMAIN},
        {"login_hint": MINA["email"]},
    ],
    ids=lambda item: next(iter(item)),
)
def test_authorization_request_redirects_at_once(globex: ConnectedOrganization, parameters: dict[str, str]) -> None:
    shop = globex.tenant.application("shop", client_name="Shop")
    values = {name: text.format(id=globex.id) for name, text in parameters.items()}
    page = globex.visitor.authorize(shop, **values)
    assert at_provider(globex, page)
    assert "code" in globex.visitor.open(globex.callback(page)).query


def test_organization_that_requires_it_redirects_at_once(globex: ConnectedOrganization) -> None:
    shop = globex.tenant.application("shop", client_name="Shop", organization_usage="allow")
    assert not at_provider(globex, globex.visitor.authorize(shop, organization=globex.org))
    globex.set_policies(MethodPolicy={"AllowedMethods": ["connection"]})
    assert at_provider(globex, globex.new_visitor_at(globex.tenant).authorize(shop, organization=globex.org))


@pytest.mark.parametrize("name", [f"conn_{'0' * 16}", "conn_x", "{id} "])
def test_unknown_connection_shows_the_sign_in_page(globex: ConnectedOrganization, name: str) -> None:
    shop = globex.tenant.application("shop", client_name="Shop")
    assert globex.visitor.authorize(shop, connection=name.format(id=globex.id)).is_sign_in


def test_last_used_connection_leads_the_page(globex: ConnectedOrganization) -> None:
    globex.sign_in()
    globex.visitor.forget("session")
    page = globex.visitor.open("/login")
    assert at_provider(globex, page.follow("Continue with Globex Gardens Last used"))
    assert "Globex" not in globex.new_visitor_at(globex.tenant).open("/login").text


def test_appinfo_shows_whether_domains_are_looked_up(new_connected: NewConnected) -> None:
    for domain, expected in (("", False), (DOMAIN, True)):
        globex = new_connected(Domain=domain)
        assert answered(globex.business.send("GET", APPINFO))["IsAutoLookUpEnabled"] is expected


@pytest.mark.parametrize("is_identifier_first", [True, False])
def test_look_ups_are_limited(new_connected: NewConnected, is_identifier_first: bool) -> None:
    """Each answer says whether a domain is a customer's."""
    globex = new_connected(
        settings={"identifier_first": is_identifier_first, "limits": {"authorize_per_minute_per_address": 2}}
    )
    values = {"identifier": "eve@initech.example"} | ({} if is_identifier_first else {"password": "wrong"})
    button = "Continue" if is_identifier_first else "Sign in"
    statuses = [globex.visitor.open("/login").press(button, **values).status for _ in range(3)]
    assert statuses[-1] == 429
    assert 429 not in statuses[:2]
