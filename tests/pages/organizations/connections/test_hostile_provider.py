"""What the identity provider of a customer, which the customer's administrators control, cannot do, and what others cannot do by it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from app.contract.federation.connections import ConnectionSettings
from app.contract.organizations.models import Attributes
from app.identity.authentication.federation.providers.organization_openid import OrganizationOpenIdProvider
from app.identity.platform.outbound.openid_metadata import ProviderMetadataCache
from tests.support.fakes.identity_provider import CLIENT, SECRET, FakeProvider, public
from tests.support.organizations.connected_organization import DOMAIN, MINA, ConnectedOrganization, NewConnected
from tests.support.organizations.management import PATH
from tests.support.tenants.tenant_server import answered, refused

DIRECTORY = "11111111-2222-3333-4444-555555555555"
OTHER_DIRECTORY = "66666666-7777-8888-9999-000000000000"
PERSONAL = "9188040d-6c67-4c5b-b112-36a304b66dad"
ACCOUNTS = "/v2/manage/account"
BACK = "https://shop.example/back"
ELSEWHERE = "mina@initech.example"


def issuer_of_every_directory(provider: FakeProvider) -> str:
    """Let the provider be one as Entra ID's `common`, at which a stranger's directory asserts an address; return the issuer."""
    issuer = f"{provider.url}/common/v2.0"
    document = {**provider.configuration(), "issuer": f"{provider.url}/{{tenantid}}/v2.0"}
    provider.answers["/common/v2.0/.well-known/openid-configuration"] = (200, {}, json.dumps(document).encode())
    provider.claims = {"tid": DIRECTORY, "iss": f"{provider.url}/{DIRECTORY}/v2.0"}
    provider.back = {"iss": issuer}
    return issuer


def test_foreign_directory_signs_nobody_in(new_connected: NewConnected, fake_provider: FakeProvider) -> None:
    url = fake_provider.url
    addresses = {"AuthorizationUrl": f"{url}/authorize", "TokenUrl": f"{url}/token"}
    globex = new_connected(Issuer=issuer_of_every_directory(fake_provider), **addresses)
    assert "Sign-in didn’t finish" in globex.sign_in().text
    assert globex.account() is None


def test_issuer_of_every_directory_is_not_stored(globex: ConnectedOrganization, fake_provider: FakeProvider) -> None:
    body = {
        "Name": "common", "ConnectionType": "oidc_custom", "Issuer": issuer_of_every_directory(fake_provider),
        "ClientId": CLIENT, "ClientSecret": SECRET,
    }  # fmt: skip
    assert refused(globex.business.send("POST", f"{PATH}/{globex.org}/connections", body))[0] == 400


@pytest.mark.parametrize(
    ("claims", "is_verified"),
    [({}, False), ({"hd": "evil.example"}, False), ({"hd": DOMAIN}, True)],
    ids=["private", "foreign", "own"],
)
def test_google_account_needs_the_domain(
    fake_provider: FakeProvider, claims: Mapping[str, Any], is_verified: bool
) -> None:
    """Anyone who once received a mail of the company has a private Google account with that address, for good."""
    metadata: ProviderMetadataCache = fake_provider.services.provider_metadata
    settings = ConnectionSettings(key=CLIENT, issuer="https://accounts.google.com")
    provider = OrganizationOpenIdProvider("conn", settings, SECRET, metadata, Attributes(), DOMAIN)
    identity = provider.identity_of({"sub": "1", "email": MINA["email"], "email_verified": True, **claims})
    assert identity.email_verified is is_verified


@pytest.mark.parametrize(
    ("of_key", "opens"),
    [(DIRECTORY, True), ("{tenantid}", True), (OTHER_DIRECTORY, False)],
    ids=["own", "any", "other"],
)
def test_key_of_another_directory_signs_nobody_in(
    new_connected: NewConnected, fake_provider: FakeProvider, of_key: str, opens: bool
) -> None:
    """Directories of one provider share its keys, except those that the provider publishes for one issuer."""
    issuer = f"{fake_provider.url}/{DIRECTORY}/v2.0"
    document = {**fake_provider.configuration(), "issuer": issuer}
    fake_provider.answers[f"/{DIRECTORY}/v2.0/.well-known/openid-configuration"] = (
        200,
        {},
        json.dumps(document).encode(),
    )
    fake_provider.published = [{**public(1)[0], "issuer": f"{fake_provider.url}/{of_key}/v2.0"}]
    fake_provider.claims, fake_provider.back = {"iss": issuer, "tid": DIRECTORY}, {"iss": issuer}
    globex = new_connected(Issuer=issuer)
    assert (globex.sign_in().heading == "Profile") is opens
    assert (globex.account() is not None) is opens


def test_token_of_another_directory_is_refused(new_connected: NewConnected, fake_provider: FakeProvider) -> None:
    issuer = f"{fake_provider.url}/{DIRECTORY}/v2.0"
    document = {**fake_provider.configuration(), "issuer": issuer}
    fake_provider.answers[f"/{DIRECTORY}/v2.0/.well-known/openid-configuration"] = (
        200,
        {},
        json.dumps(document).encode(),
    )
    fake_provider.claims = {"iss": f"{fake_provider.url}/{OTHER_DIRECTORY}/v2.0", "tid": OTHER_DIRECTORY}
    fake_provider.back = {"iss": issuer}
    globex = new_connected(Issuer=issuer)
    assert "Sign-in didn’t finish" in globex.sign_in().text
    assert globex.account() is None


@pytest.mark.parametrize(
    "issuer",
    [
        "https://www.linkedin.com/oauth", "https://appleid.apple.com", "https://api.login.yahoo.com", "https://gitlab.com",
        "https://login.salesforce.com", "https://slack.com", "https://www.paypal.com", "https://github.com",
        f"https://login.microsoftonline.com/{PERSONAL}/v2.0", "https://login.microsoftonline.com/common/v2.0",
        "https://login.microsoftonline.com/Consumers/v2.0", "https://login.live.com", "https://WWW.LinkedIn.com/oauth",
    ],
)  # fmt: skip
def test_issuer_of_everyone_is_refused(globex: ConnectedOrganization, issuer: str) -> None:
    """With addresses, so that no document of the issuer is read: nothing else refuses it."""
    body = {
        "Name": "shared", "ConnectionType": "oidc_custom", "Issuer": issuer, "ClientId": CLIENT, "ClientSecret": SECRET,
        "AuthorizationUrl": "https://login.example/authorize", "TokenUrl": "https://login.example/token",
    }  # fmt: skip
    answer = globex.business.send("POST", f"{PATH}/{globex.org}/connections", body)
    assert refused(answer)[0] == 400
    assert "anyone can have an account there" in answer.text


@pytest.mark.parametrize(
    "issuer",
    [
        "https://accounts.google.com", f"https://login.microsoftonline.com/{DIRECTORY}/v2.0", "https://globex.okta.com",
        "https://globex.my.salesforce.com", "https://gitlab.globex.example", "https://slack.com.globex.example",
    ],
)  # fmt: skip
def test_issuer_of_an_organization_is_taken(globex: ConnectedOrganization, issuer: str) -> None:
    body = {
        "Name": "own", "ConnectionType": "oidc_custom", "Issuer": issuer, "ClientId": CLIENT, "ClientSecret": SECRET,
        "AuthorizationUrl": "https://login.example/authorize", "TokenUrl": "https://login.example/token",
    }  # fmt: skip
    assert answered(globex.business.send("POST", f"{PATH}/{globex.org}/connections", body))["Issuer"] == issuer


def leave_for_another(globex: ConnectedOrganization) -> None:
    """Let Mina, who signed in by the connection, leave the organization and take an address of another company."""
    account = globex.account()
    assert account is not None
    body = {"Email": [{"Type": "Primary", "Value": ELSEWHERE}]}
    answered(globex.business.tenant.send("PUT", f"/identity{ACCOUNTS}/{account.uid}/email", body))
    answered(globex.business.send("DELETE", f"{ACCOUNTS}/{account.uid}/orgcontext/{globex.org}"))


def test_account_that_left_is_not_opened(globex: ConnectedOrganization) -> None:
    globex.sign_in()
    leave_for_another(globex)
    browser = globex.new_visitor_at(globex.tenant)
    page = globex.sign_in(browser, email=f"anything@{DOMAIN}")
    assert "You’re not a member yet" in page.text
    assert browser.open("/profile").is_sign_in
    assert globex.roles(ELSEWHERE) == set()


def test_member_with_another_address_still_signs_in(globex: ConnectedOrganization) -> None:
    globex.sign_in()
    leave_for_another(globex)
    account = globex.account(ELSEWHERE)
    assert account is not None
    answered(globex.business.assign(account.uid, globex.org, globex.member_role))
    assert globex.sign_in_anew().heading == "Profile"


def test_program_links_no_identity_of_a_connection(new_connected: NewConnected, fake_provider: FakeProvider) -> None:
    """Nothing checks the address of an identity that a program links."""
    globex = new_connected(settings={"url_whitelist": [BACK]})
    fake_provider.known_to(globex.business.tenant, "tenants")
    query = urlencode({"provider": "tenants", "ac_linking": "true", "callback": BACK, "callbacktype": "querystring"})
    state = parse_qs(urlsplit(globex.visitor.open(f"/requesthandler.aspx?{query}").address).query)["state"][0]
    page = globex.visitor.open(f"/sign-in/with?provider={globex.id}&attempt={state.partition('.')[0]}")
    assert not page.address.startswith((globex.provider.url, BACK))


def test_connection_turned_off_meanwhile_signs_nobody_in(
    globex: ConnectedOrganization, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider decides how long its answer takes."""
    token = globex.provider.token

    def answer_late(form: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        globex.set_active(False)
        return token(form)

    monkeypatch.setattr(globex.provider, "token", answer_late)
    assert "Sign-in method unavailable" in globex.sign_in().text
    assert globex.account() is None


def test_foreign_connection_opens_no_member_of_a_strict_one(
    globex: ConnectedOrganization, new_connected: NewConnected
) -> None:
    """It could make the person its own member first, and then require its own connection, which both accept."""
    initech = new_connected(globex.tenant, name="Initech", domain="initech.example")
    only = {"MethodPolicy": {"AllowedMethods": ["connection"]}}
    globex.sign_in()
    globex.set_policies(**only)
    initech.set_policies(**only)
    account = globex.account()
    assert account is not None
    emails = [{"Type": "Primary", "Value": MINA["email"]}, {"Type": "Work", "Value": ELSEWHERE}]
    answered(globex.business.tenant.send("PUT", f"/identity{ACCOUNTS}/{account.uid}/email", {"Email": emails}))
    page = initech.sign_in_anew(sub="forged", email=ELSEWHERE)
    assert "Globex Gardens requires a connected account" in page.text
    assert globex.roles(org=initech.org) == set()
    assert globex.linked() == [(globex.id, "mina-1")]


def test_required_connection_cannot_be_disconnected(globex: ConnectedOrganization) -> None:
    """Else a member with a password leaves it by disconnecting it and taking a private address."""
    globex.tenant.person(MINA["email"])
    globex.sign_in()
    page = globex.visitor.open("/identities").follow("Disconnect")
    globex.set_policies(MethodPolicy={"AllowedMethods": ["connection"]})
    page.press("Disconnect")
    assert globex.linked() == [(globex.id, "mina-1")]
    globex.set_policies(MethodPolicy={"AllowedMethods": ["connection", "password"]})
    page.press("Disconnect")
    assert globex.linked() == []
