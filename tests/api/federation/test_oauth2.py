"""Sign-in through a provider that supports OAuth 2.0 only (decision 0130)."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.federation.connection_completion import preset_settings, resolved
from app.contract.federation.connections import ConnectionSettings
from app.identity.authentication.federation.federated_sign_in import ConnectionBroken, ConnectionRefused
from tests.support.accounts.connecting import finished, led, query_of
from tests.support.credentials.devices import store_service_secrets
from tests.support.fakes.identity_provider import SECRET, FakeProvider
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

pytestmark = on_one_database
OCTOCAT = {
    "id": 583231, "login": "octocat", "name": "The Octocat", "email": "public@example.test", "company": "GitHub",
    "avatar_url": "https://pictures.example/octocat.png", "html_url": "https://github.example/octocat",
}  # fmt: skip
EMAILS = [
    {"email": "other@example.test", "primary": False, "verified": True},
    {"email": "octocat@example.test", "primary": True, "verified": True},
]


@pytest.fixture
def acme(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> TenantServer:
    """Return a tenant with two connections to the provider: one like GitHub, one without a list of emails."""
    github = preset_settings("github")
    assert github is not None
    stated = {"claims": github.claims, "emails_endpoint": f"{fake_provider.url}/user/emails", "trusts_email": True}
    made = new_tenant_server(connections={"github": fake_provider.oauth2(**stated), "plain": fake_provider.oauth2()})
    store_service_secrets(made, connections={"github": SECRET, "plain": SECRET})
    return made


def test_primary_verified_email_is_used(acme: TenantServer, fake_provider: FakeProvider) -> None:
    fake_provider.userinfo, fake_provider.emails = OCTOCAT, EMAILS
    address = led(acme, "github", hint="ada@example.test")
    assert query_of(address).keys() == {
        "response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
    }  # fmt: skip
    claimed, connection = finished(acme, fake_provider.signs_in(address))
    assert (claimed.provider, claimed.subject) == ("github", "583231")
    assert (claimed.email, claimed.email_verified) == ("octocat@example.test", True)
    assert claimed.profile == {
        "FullName": "The Octocat", "NickName": "octocat", "Company": "GitHub", "ImageUrl": OCTOCAT["avatar_url"],
        "ProfileUrl": OCTOCAT["html_url"],
    }  # fmt: skip
    assert (connection.title, connection.trusts_email) == ("GitHub", True)
    (token_request,) = [item for item in fake_provider.received if item.path == "/token"]
    assert token_request.form["client_secret"] == SECRET
    assert "Authorization" not in token_request.headers


@pytest.mark.parametrize(
    ("emails", "email", "is_verified"),
    [
        ([{"email": "a@example.test", "primary": True, "verified": False}], "a@example.test", False),
        ([{"email": "a@example.test", "primary": False, "verified": True}], None, False),
        ([{"email": ["a@example.test"], "primary": True, "verified": True}], None, False),
        ([7, None, "a@example.test"], None, False),
        ({"email": "a@example.test", "primary": True, "verified": True}, None, False),
        ([], None, False),
    ],
    ids=str,
)
def test_incomplete_email_list_is_read_strictly(
    acme: TenantServer, fake_provider: FakeProvider, emails: Any, email: str | None, is_verified: bool
) -> None:
    fake_provider.userinfo, fake_provider.emails = OCTOCAT, emails
    claimed, _ = finished(acme, fake_provider.signs_in(led(acme, "github")))
    assert (claimed.email, claimed.email_verified) == (email, is_verified)


@pytest.mark.parametrize("members", [{"id": None}, {"id": True}, {"id": 1.5}, {"id": ""}, {"id": {"a": 1}}], ids=str)
def test_invalid_subject_is_refused(acme: TenantServer, fake_provider: FakeProvider, members: dict[str, Any]) -> None:
    fake_provider.userinfo = members
    with pytest.raises(ConnectionBroken):
        finished(acme, fake_provider.signs_in(led(acme, "plain")))


@pytest.mark.parametrize(
    ("path", "answer", "refusal"),
    [
        ("/token", (200, {}, b'{"error": "bad_verification_code"}'), ConnectionRefused),
        ("/token", (200, {}, b'{"error": "incorrect_client_credentials"}'), ConnectionBroken),
        ("/token", (200, {}, b'{"access_token": "a\\r\\nX: y"}'), ConnectionBroken),
        ("/token", (200, {}, b'{"access_token": 7}'), ConnectionBroken),
        ("/user", (200, {}, b"[]"), ConnectionBroken),
        ("/user", (302, {"Location": "http://169.254.169.254/"}, b""), ConnectionBroken),
        ("/user", (403, {}, b"{}"), ConnectionBroken),
        ("/user/emails", (500, {}, b"[]"), ConnectionBroken),
    ],
)
def test_invalid_provider_response_is_refused(
    acme: TenantServer, fake_provider: FakeProvider, path: str, answer: Any, refusal: type[Exception]
) -> None:
    fake_provider.userinfo, fake_provider.emails = OCTOCAT, EMAILS
    address = led(acme, "github")
    fake_provider.answers = {path: answer}
    with pytest.raises(refusal):
        finished(acme, fake_provider.signs_in(address))


def test_provider_without_pkce_gets_no_verifier(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    fake_provider.needs_pkce, fake_provider.userinfo = (
        False,
        {"sub": "782bbtaQ", "locale": {"country": "US", "language": "en"}},
    )
    linkedin = {"claims": {}, "pkce": False}
    tenant = new_tenant_server(connections={"linkedin": fake_provider.oauth2(**linkedin)})
    with pytest.raises(ConnectionBroken):  # nothing would protect the code
        led(tenant, "linkedin")
    store_service_secrets(tenant, connections={"linkedin": SECRET})
    claimed, _ = finished(tenant, fake_provider.signs_in(led(tenant, "linkedin")))
    assert (claimed.subject, claimed.profile) == ("782bbtaQ", {"FullName": "Ada"})


def test_oauth2_provider_gives_no_reauthentication(acme: TenantServer, fake_provider: FakeProvider) -> None:
    fake_provider.userinfo = OCTOCAT
    claimed, connection = finished(acme, fake_provider.signs_in(led(acme, "plain", reauthenticate=True)))
    assert (claimed.subject, claimed.is_anew, connection.can_reauthenticate) == ("583231", False, False)


def test_nested_claim_is_mapped(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    claims = resolved("facebook", ConnectionSettings(key="k")).claims
    tenant = new_tenant_server(connections={"facebook": fake_provider.oauth2(claims=claims)})
    fake_provider.userinfo = {
        "id": "10",
        "first_name": "Ada",
        "picture": {"data": {"url": "https://pictures.example/a.png"}},
    }
    claimed, connection = finished(tenant, fake_provider.signs_in(led(tenant, "facebook")))
    assert (claimed.subject, claimed.email, connection.trusts_email) == ("10", None, False)
    assert claimed.profile["FirstName"] == "Ada"
    assert claimed.profile["ImageUrl"] == "https://pictures.example/a.png"


def test_custom_provider_of_the_interface_signs_in(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    tenant = new_tenant_server()
    stated = fake_provider.oauth2()
    body = {
        "ProviderName": "Partner",
        "UserLoginEndpoint": stated["authorization_endpoint"],
        "AccessTokenEndpoint": stated["token_endpoint"],
        "UserprofileEndpoint": stated["userinfo_endpoint"],
        "ApplicationKey": stated["key"],
        "ApplicationSecret": SECRET,
        "DataMap": {"ID": "id", "Email": "contact.mail", "Company": "company"},
    }
    token = machine(tenant, "provider:create")
    answered(ask(tenant, token, "POST", "/v2/manage/custom-providers/oauth", body))
    fake_provider.userinfo = {**OCTOCAT, "contact": {"mail": "ada@example.test"}}
    claimed, _ = finished(tenant, fake_provider.signs_in(led(tenant, "partner")))
    assert (claimed.provider, claimed.subject, claimed.email) == ("partner", "583231", "ada@example.test")
    assert claimed.profile["Company"] == "GitHub"
