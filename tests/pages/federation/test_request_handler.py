"""Links of programs to a provider (RequestHandler.aspx): what the callback gets, and confirmation on other devices."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from werkzeug.test import Client as WsgiClient

from tests.support.accounts.stored_tokens import encrypted_texts, entries, stored_rows
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.federated_sign_in import ADA, FederatedPageUser
from tests.support.oauth.world import World
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage

CALLBACK = "https://shop.example/back"
GUID = "0f5a1c52-9c1e-4a6b-8a51-0d5f2b9c1c11"
AUTH = "/identity/v2/auth"


@pytest.fixture
def server(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> TenantServer:
    connections = {"globex": fake_provider.openid(title="Globex", trusts_email=True)}
    return new_tenant_server(connections=connections, no_callback_login=True, url_whitelist=[CALLBACK])


@pytest.fixture
def user(
    server: TenantServer, identity_app: Any, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> FederatedPageUser:
    tenant = World(server.services, WsgiClient(identity_app), server.tenant_id, server.name, server.api_key)
    return FederatedPageUser(tenant, new_visitor_at(tenant), fake_provider)


def link(**parameters: str) -> str:
    return f"/RequestHandler.aspx?{urlencode({'provider': 'Globex', 'callback': CALLBACK, **parameters})}"


def callback_parameters(page: VisitedPage) -> dict[str, str]:
    """Return the parameters of the program's callback URL."""
    assert page.address.startswith(CALLBACK), page.address
    parts = urlsplit(page.address)
    return {name: values[0] for name, values in parse_qs(parts.query or parts.fragment).items()}


def exchange(server: TenantServer, token: str) -> Any:
    return server.send("GET", "/api/v2/access_token", token=token, secret=server.api_secret, with_secret=False)


def test_request_token_is_exchanged_once(server: TenantServer, user: FederatedPageUser) -> None:
    page = user.sign_in(start=link(callbacktype="QueryString"))
    token = callback_parameters(page)["token"]
    bearer = answered(exchange(server, token))["access_token"]
    profile = answered(server.send("GET", f"{AUTH}/account", bearer=bearer))
    assert (profile["FirstName"], profile["RegistrationProvider"]) == ("Ada", "globex")
    assert [item["ID"] for item in profile["Identities"]] == ["1"]
    assert refused(exchange(server, token))[1] == 903


@pytest.mark.both_databases
def test_program_refreshes_profile_after_each_sign_in(
    server: TenantServer, user: FederatedPageUser, fake_provider: FakeProvider
) -> None:
    connection = fake_provider.openid(title="Globex", trusts_email=True, keep_provider_tokens=True)
    server.change_settings(connections={"globex": connection})
    uids, tokens = set(), set()
    for name in ("Augusta", "Byron"):
        page = user.sign_in(start=link(callbacktype="QueryString"))
        bearer = answered(exchange(server, callback_parameters(page)["token"]))["access_token"]
        fake_provider.userinfo = {"given_name": name}
        profile = answered(server.send("GET", "/api/v2/userprofile/refresh", bearer=bearer))
        assert (profile["Identities"][0]["FirstName"], profile["FirstName"]) == (name, "Ada")
        uids.add(profile["Uid"])
        tokens |= set(encrypted_texts(entries(server)))
        user.visitor.forget("session")
    assert (len(uids), len(tokens)) == (1, 2)
    answered(server.send("DELETE", f"{AUTH}/socialidentity", {"provider": "globex", "providerid": "1"}, bearer=bearer))
    everything = stored_rows(server)
    assert not any(text in everything for text in tokens)


def test_access_token_is_returned_if_tenant_enables_it(server: TenantServer, user: FederatedPageUser) -> None:
    server.change_settings(token_in_return_url=True)
    page = user.sign_in(start=link(callbacktype="hash", is_access_token="true"))
    bearer = callback_parameters(page)["lr-token"]
    assert answered(server.send("GET", f"{AUTH}/account", bearer=bearer))["FirstName"] == "Ada"
    user.visitor.open("/logout").press("Sign out")
    assert refused(server.send("GET", f"{AUTH}/account", bearer=bearer)) == (401, 1409)


def test_request_token_is_returned_by_default(server: TenantServer, user: FederatedPageUser) -> None:
    token = callback_parameters(user.sign_in(start=link(callbacktype="hash", is_access_token="true")))["lr-token"]
    assert refused(server.send("GET", f"{AUTH}/account", bearer=token)) == (401, 1409)
    answered(exchange(server, token))


@pytest.mark.parametrize(
    "callback", [f"{CALLBACK}/", f"{CALLBACK}/go?to=https://evil.example", f"{CALLBACK}#x", f"{CALLBACK}?a=b"]
)
def test_access_token_needs_an_exactly_listed_callback(
    server: TenantServer, user: FederatedPageUser, callback: str
) -> None:
    """An entry also allows the paths below it, where an open redirect would leak the token."""
    server.change_settings(token_in_return_url=True)
    refusal = user.visitor.open(link(callback=callback, callbacktype="hash", is_access_token="true"))
    assert refusal.heading == "We can’t send you back"
    user.sign_in(start=link(callback=callback, callbacktype="hash"))  # a request token may be sent there


def sign_in_other_account(server: TenantServer, user: FederatedPageUser) -> str:
    """Sign another account in with this browser; return its UID."""
    address = "bob@example.test"
    account = server.create(Email=[{"Type": "Primary", "Value": address}], FirstName="Bob", EmailVerified=True)
    page = user.visitor.open("/login").press("Sign in", identifier=address, password=PASSWORD)
    assert page.profile_name == "Bob", page.text
    return str(account["Uid"])


@pytest.mark.parametrize("parameters", [{"callbacktype": "hash", "is_access_token": "true"}, {"callbacktype": "hash"}])
def test_failed_sign_in_returns_no_token_of_the_session(
    server: TenantServer, user: FederatedPageUser, parameters: dict[str, str]
) -> None:
    """The provider denies, or an unknown identity returns, in a browser signed in to another account."""
    server.change_settings(token_in_return_url=True)
    sign_in_other_account(server, user)
    for subject in (None, "stranger"):
        redirected = user.visitor.open(link(**parameters, disablesignup="true"))
        claims = {"email": "stranger@example.test", "email_verified": False}
        callback_url = (
            user.denied(redirected)
            if subject is None
            else user.fake_provider.callback_url(redirected.address, **ADA | claims)
        )
        page = user.visitor.open(callback_url)
        assert not page.address.startswith(CALLBACK), page.address


def test_failed_sign_in_with_guid_gets_no_session(server: TenantServer, user: FederatedPageUser) -> None:
    sign_in_other_account(server, user)
    redirected = user.visitor.open(link(callbackguid=GUID))
    page = user.visitor.open(user.denied(redirected))
    if "Approve" in page.text:
        page.press("Approve")
    assert refused(ping(server)) == (403, 1140)


def test_token_is_of_the_returning_identity(server: TenantServer, user: FederatedPageUser) -> None:
    sign_in_other_account(server, user)
    asked = user.sign_in(start=link(callbacktype="hash"))
    assert asked.heading == "Switch accounts?"
    token = callback_parameters(asked.press("Switch accounts"))["lr-token"]
    bearer = answered(exchange(server, token))["access_token"]
    assert answered(server.send("GET", f"{AUTH}/account", bearer=bearer))["FirstName"] == "Ada"


def test_token_is_posted_by_default(user: FederatedPageUser) -> None:
    page = user.sign_in(start=link())
    form = page.form("Continue")
    assert form.action == CALLBACK
    assert len(form.fields["token"]) > 30


@pytest.mark.both_databases
def test_linking_candidate_signs_no_account_in(server: TenantServer, user: FederatedPageUser) -> None:
    uid = str(server.create()["Uid"])
    bearer = str(server.tokens(uid)["access_token"])
    candidate = callback_parameters(user.sign_in(start=link(callbacktype="querystring", ac_linking="true")))["token"]
    assert not user.visitor.cookies("session")
    assert refused(exchange(server, candidate))[1] == 903
    answered(server.send("POST", f"{AUTH}/socialidentity", {"candidatetoken": candidate}, bearer=bearer))
    assert user.sign_in().heading != "Profile"
    assert server.read(uid)["Identities"][0]["Provider"] == "globex"


@pytest.mark.parametrize("callback", ["https://evil.example/", "javascript:alert(1)", f"{CALLBACK}@evil.example"])
def test_unlisted_callback_is_refused(user: FederatedPageUser, callback: str) -> None:
    assert user.visitor.open(link(callback=callback)).heading == "We can’t send you back"


def test_wrong_api_key_is_refused(user: FederatedPageUser) -> None:
    assert user.visitor.open(link(apikey=GUID)).status == 403


def ping(server: TenantServer) -> Any:
    return server.send("GET", f"{AUTH}/account/ping", clientguid=GUID, with_secret=False)


def test_device_handoff_needs_confirmation_and_works_once(server: TenantServer, user: FederatedPageUser) -> None:
    """Otherwise an attacker could send a link with their own GUID and get into the account."""
    page = user.sign_in(start=link(nocallback="true", callbackguid=GUID))
    assert page.heading == "Approve sign-in?"
    assert refused(ping(server)) == (403, 1140)
    assert page.press("Approve").heading == "Approved"
    login = answered(ping(server))
    assert login["Profile"]["FirstName"] == "Ada"
    assert refused(ping(server))[0] == 403
    assert page.visitor.open(link(callbackguid=GUID)).status == 403


def test_denied_device_handoff_is_final(server: TenantServer, user: FederatedPageUser) -> None:
    page = user.sign_in(start=link(callbackguid=GUID))
    assert page.press("Deny").heading == "Denied"
    assert refused(ping(server)) == (403, 1140)
    for again in (page.press("Approve"), page.visitor.open(page.address)):
        assert again.heading == "Already denied"
        assert "You denied this sign-in earlier" in again.text
    assert refused(ping(server)) == (403, 1140)


def test_approved_device_handoff_is_not_asked_again(server: TenantServer, user: FederatedPageUser) -> None:
    page = user.sign_in(start=link(callbackguid=GUID))
    page.press("Approve")
    for again in (page.visitor.open(page.address), page.press("Approve"), page.press("Deny")):
        assert again.heading == "Already approved"
        assert "You approved this sign-in earlier" in again.text
    assert answered(ping(server))["Profile"]["FirstName"] == "Ada"


def test_disabled_sign_up_registers_no_account(user: FederatedPageUser) -> None:
    assert "No account is connected" in user.sign_in(start=link(disablesignup="true")).text
