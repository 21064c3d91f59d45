"""Bad input at each step of the set-up guide: it is said at the field, and what was typed stays."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlencode

import pytest

from tests.support.fakes.identity_provider import CLIENT, SECRET, provider
from tests.support.organizations.connected_organization import DOMAIN, MINA
from tests.support.organizations.connections import certificate
from tests.support.organizations.management import PATH
from tests.support.organizations.saml_setup_guides import provider_metadata
from tests.support.organizations.setup_guides import SetupByLink
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitorAt

UNREADABLE = "We couldn’t read a sign-in configuration there."


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "Enter a domain."),
        ("not a domain", "Enter a domain that your organization owns"),
        ("gmail.com", "Enter a domain that your organization owns"),
        ("x" * 260 + ".example", "Use 253 characters or fewer."),
        ("no-mail.example", "Enter a domain that your organization owns"),
    ],
)
def test_wrong_domain_gets_an_error_at_its_field(setup: SetupByLink, name: str, sentence: str) -> None:
    page = setup.open().press("Add domain", name=name)
    assert sentence in page.text
    assert page.title.startswith("Error: ")
    assert f'value="{name}"' in page.html or not name


def test_domain_of_another_organization_cannot_be_added(setup: SetupByLink) -> None:
    setup.business.create("Initech", Domains=[{"DomainName": DOMAIN, "IsVerified": True}])
    assert "This domain is already in use." in setup.open().press("Add domain", name=DOMAIN).text


def test_domain_that_was_added_before_stays(setup: SetupByLink) -> None:
    page = setup.open().press("Add domain", name=DOMAIN)
    again = page.press("Add domain", name=DOMAIN)
    assert again.html.count('id="name-org_domain_') == 1


@pytest.mark.parametrize("product", ["", "windows", "x" * 5_000, "../okta"])
def test_unknown_product_is_refused(setup: SetupByLink, product: str) -> None:
    page = setup.with_domain()
    fields = page.form("Okta").fields
    shown = setup.visitor.send("POST", f"{setup.visitor.home}/setup/provider", {**fields, "product": product})
    assert "Choose a provider from the list" in shown.text
    assert shown.status == 400


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"issuer": ""}, "Fill in this field."),
        ({"client_id": " "}, "Fill in this field."),
        ({"client_secret": ""}, "Fill in this field."),
        ({"issuer": "okta"}, "Enter your Issuer, such as https://login.globex.example"),
        ({"issuer": "http://10.0.0.1"}, "Enter your Issuer, such as"),
        ({"issuer": "https://127.0.0.1:1"}, UNREADABLE),
        ({"issuer": "https://accounts.example/#f"}, "Enter your Issuer, such as"),
        ({"issuer": "https://login.microsoftonline.com/common/v2.0"}, "Anyone can have an account there."),
        ({"issuer": "https://gitlab.com"}, "Anyone can have an account there."),
        ({"client_id": "x" * 2_001}, "Use 2000 characters or fewer."),
    ],
    ids=str,
)  # fmt: skip
def test_unusable_value_gets_an_error_at_its_field(setup: SetupByLink, typed: dict[str, str], sentence: str) -> None:
    values = {"issuer": setup.provider.url, "client_id": CLIENT, "client_secret": SECRET, **typed}
    page = setup.with_product().press("Save and continue", **values)
    assert page.heading == "Connect your OpenID Connect provider"
    assert sentence in page.text
    assert page.title.startswith("Error: ")
    for name in typed.keys() & {"issuer", "client_id"}:
        assert typed[name].strip()[:100] in page.html
    assert setup.visitor.open("/setup/test").heading == "Connect your OpenID Connect provider"


@pytest.mark.parametrize("status", [404, 500])
def test_provider_without_a_configuration_is_refused(setup: SetupByLink, status: int) -> None:
    setup.provider.answers["/.well-known/openid-configuration"] = (status, {}, b"")
    assert UNREADABLE in setup.with_values().text


def test_refused_values_stay_for_the_next_opening(setup: SetupByLink, new_visitor_at: NewVisitorAt) -> None:
    setup.with_values(issuer="https://127.0.0.1:1")
    other = new_visitor_at(setup.tenant)
    page = setup.open(other)
    assert page.heading == "Connect your OpenID Connect provider"
    assert "https://127.0.0.1:1" in page.html
    assert "Saved. Leave it empty to keep it." in page.text


def test_one_link_cannot_use_up_the_look_ups_of_all(setup: SetupByLink) -> None:
    page = setup.open().press("Add domain", name=DOMAIN)
    shown = [page.press(f"Verify {DOMAIN}").status for _ in range(31)]
    assert shown[-1] == 429
    assert shown.count(429) == 2


def test_discovery_address_and_slash_are_understood(setup: SetupByLink) -> None:
    page = setup.with_values(issuer=f"{setup.provider.url}/.well-known/openid-configuration")
    assert page.heading == "Test the sign-in"


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (
            {"answers": {"/token": (401, {"Content-Type": "application/json"}, b'{"error":"invalid_client"}')}},
            "invalid_client",
        ),
        ({"claims": {"aud": "another-client"}}, "another-client"),
        ({"claims": {"nonce": "other"}}, "The token’s nonce"),
        ({"claims": {"sub": None}}, "The token has no sub"),
        ({"answers": {"/token": (503, {}, b"")}}, "token endpoint had an error of its own"),
    ],
    ids=["client", "audience", "nonce", "subject", "down"],
)
def test_refused_test_names_the_failed_check(setup: SetupByLink, change: dict[str, Any], finding: str) -> None:
    page = setup.with_values()
    for name, value in change.items():
        getattr(setup.provider, name).update(value)
    shown = setup.test(page)
    assert "The test didn’t work" in shown.text
    assert finding in shown.text.replace("`", "")
    assert SECRET not in shown.html
    assert setup.visitor.open("/setup/activate").heading == "Test the sign-in"
    setup.provider.claims.clear()
    setup.provider.answers.clear()
    assert "The test worked" in setup.test(shown, "Test again").text


def test_canceled_test_shows_access_denied(setup: SetupByLink) -> None:
    redirected = setup.with_values().press("Sign in to test")
    answer = setup.provider.refuses(redirected.address)
    path = redirected.address.partition("redirect_uri=")[2].partition("&")[0]
    shown = setup.visitor.open(f"{unquote(path)}?{urlencode(answer)}")
    assert "access_denied" in shown.text


def test_provider_without_an_email_is_refused(setup: SetupByLink) -> None:
    shown = setup.test(setup.with_values(), email=None)
    assert "The test didn’t work" in shown.text
    assert "no address" in shown.text


def test_email_of_another_domain_is_pointed_out(setup: SetupByLink) -> None:
    shown = setup.test(setup.with_values(), email="mina@initech.example")
    assert "The test worked" in shown.text
    assert "This email isn’t at a verified domain" in shown.text


def test_secret_claims_are_masked_and_others_shown(setup: SetupByLink) -> None:
    claims: dict[str, Any] = {
        "api_token": "s3cr3t-value",
        "office": {"country": "RO"},
        "long": "A" * 80,
        "jwt": "eyJhbGciOiJub25lIn0.eyJ4Ijox.sig",
    }
    shown = setup.test(setup.with_values(), **claims)
    for text in ("s3cr3t-value", "A" * 80, "eyJhbGci"):
        assert text not in shown.html
    assert "office.country" in shown.text
    assert "RO" in shown.text


def test_claims_are_shown_in_the_session_that_tried_alone(setup: SetupByLink, new_visitor_at: NewVisitorAt) -> None:
    setup.tested()
    other = new_visitor_at(setup.tenant)
    setup.open(other)
    page = other.open("/setup/test")
    assert "given_name" in page.html
    assert MINA["email"] not in page.html
    assert MINA["family_name"] not in page.html


def test_answer_counts_once_and_in_its_session(setup: SetupByLink, new_visitor_at: NewVisitorAt) -> None:
    redirected = setup.with_values().press("Sign in to test")
    address = setup.provider.callback_url(redirected.address, **MINA)
    stranger = new_visitor_at(setup.tenant)
    assert stranger.open(address).heading == "Session ended"
    other = new_visitor_at(setup.tenant)
    setup.open(other)
    assert "The test didn’t work" in other.open(address).text
    assert "The test worked" in setup.visitor.open(address).text
    assert "The test didn’t work" in setup.visitor.open(address).text


def test_answer_of_values_that_changed_since_is_dropped(setup: SetupByLink) -> None:
    redirected = setup.with_values().press("Sign in to test")
    before = setup.provider.requests_to("/token")
    setup.visitor.open("/setup/connection").press("Save and continue", client_secret="another")
    shown = setup.visitor.open(setup.provider.callback_url(redirected.address, **MINA))
    assert setup.provider.requests_to("/token") == before, "what is there now gets no code of another"
    assert "The test worked" not in shown.text
    assert setup.visitor.open("/setup/activate").heading == "Test the sign-in"


def test_another_claim_for_the_account_needs_another_test(setup: SetupByLink) -> None:
    page = setup.tested()
    shown = page.press("Save and continue", id="email", email="email")
    assert shown.heading == "Test the sign-in"
    assert "You changed how people are identified, so the last test no longer counts." in shown.text
    assert "The test worked" in setup.test(shown, "Test again").text


def test_other_mapping_needs_no_test_and_is_stored(setup: SetupByLink) -> None:
    page = setup.test(setup.with_values(), department="Night")
    fields = {
        "id": "sub",
        "email": "email",
        "first_name": "given_name",
        "last_name": "family_name",
        "groups": "department",
    }
    page.press("Save and continue", **fields).press("Activate")
    (connected,) = setup.connections()
    expected = {
        "ID": "sub",
        "Email": "email",
        "FirstName": "given_name",
        "LastName": "family_name",
        "Groups": "department",
    }
    assert {name: connected["Attributes"][name] for name in expected} == expected


def test_domain_lost_before_the_end_is_refused(setup: SetupByLink) -> None:
    ready = setup.tested().press("Save and continue")
    domain = answered(setup.business.send("GET", f"{PATH}/{setup.org}/domains"))["Data"][0]
    answered(setup.business.send("DELETE", f"{PATH}/{setup.org}/domains/{domain['Id']}"))
    shown = ready.press("Activate")
    assert "Your domain is no longer verified" in shown.text
    assert setup.connections() == []


def test_domain_of_another_connection_is_refused(setup: SetupByLink) -> None:
    ready = setup.tested().press("Save and continue")
    body = {
        "Name": "other", "ConnectionType": "oidc_custom", "Issuer": setup.provider.url, "ClientId": "c", "ClientSecret": "s",
        "Domain": DOMAIN,
    }  # fmt: skip
    answered(setup.business.send("POST", f"{PATH}/{setup.org}/connections", body))
    assert "Another connection uses this domain" in ready.press("Activate").text
    assert len(setup.connections()) == 1


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({}, "Fill in this field."),
        ({"metadata": "no xml"}, UNREADABLE),
        ({"metadata": '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'}, UNREADABLE),
        ({"metadata": "<EntityDescriptor/>"}, UNREADABLE),
        ({"metadata": provider_metadata("AAAA")}, UNREADABLE),
        ({"metadata": provider_metadata(certificate(), sign_in="http://idp.globex.example/sso")}, UNREADABLE),
        ({"metadata_url": "https://127.0.0.1/metadata"}, UNREADABLE),
        ({"metadata_url": "http://idp.example/metadata"}, "Enter your Metadata link, such as"),
        ({"metadata_url": "ftp://idp.example"}, "Enter your Metadata link, such as"),
        ({"metadata": "x" * 40_001}, "Use 40000 characters or fewer."),
    ],
    ids=["nothing", "no xml", "entity", "empty", "certificate", "without tls", "inward", "http", "ftp", "long"],
)
def test_unusable_metadata_gets_an_error(setup: SetupByLink, typed: dict[str, str], sentence: str) -> None:
    shown = setup.with_product("SAML 2.0").press("Save and continue", **typed)
    assert shown.heading == "Connect your SAML provider"
    assert sentence in shown.text


def test_another_issuer_gets_no_saved_secret(setup: SetupByLink, new_visitor_at: NewVisitorAt) -> None:
    """Who has the link, too, could read it at an issuer of their own."""
    setup.with_values()
    stranger = new_visitor_at(setup.tenant)
    setup.open(stranger)
    with provider(setup.business.tenant.services) as evil:
        for _ in range(2):
            shown = stranger.open("/setup/connection").press("Save and continue", issuer=evil.url)
            if shown.heading == "Test the sign-in":
                stranger.open(evil.callback_url(shown.press("Sign in to test").address, **MINA))
            assert evil.requests_to("/token") == 0
            assert "Fill in this field." in shown.text
    again = stranger.open("/setup/connection").press("Save and continue", issuer=setup.provider.url)
    assert "Fill in this field." in again.text


def test_metadata_of_ad_fs_is_found_by_its_host(setup: SetupByLink) -> None:
    """Nobody puts an address together: the guide knows its path."""
    page = setup.with_product("AD FS").press("Use SAML instead")
    assert "such as adfs.globex.example" in page.press("Save and continue", metadata_url="not a host").text
    for typed in ("127.0.0.1", "https://127.0.0.1/"):
        assert UNREADABLE in page.press("Save and continue", metadata_url=typed).text
