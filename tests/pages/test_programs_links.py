"""A program's link to another provider (RequestHandler.aspx): what comes back to it, and who is asked first."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from werkzeug.test import Client as WsgiClient

from tests.pages.test_connections import ADA, Traveller
from tests.support.oauth_world import World
from tests.support.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused
from tests.support.upstream import FakeProvider
from tests.support.visitor import NewVisitorAt, Seen

BACK = "https://shop.example/back"
GUID = "0f5a1c52-9c1e-4a6b-8a51-0d5f2b9c1c11"
AUTH = "/identity/v2/auth"


@pytest.fixture
def server(new_tenant_server: NewTenantServer, elsewhere: FakeProvider) -> TenantServer:
    stated = {"globex": elsewhere.openid(title="Globex", trusts_email=True)}
    return new_tenant_server(connections=stated, no_callback_login=True, url_whitelist=[BACK])


@pytest.fixture
def traveller(
    server: TenantServer, identity_app: Any, new_visitor_at: NewVisitorAt, elsewhere: FakeProvider
) -> Traveller:
    there = World(server.services, WsgiClient(identity_app), server.tenant_id, server.name, server.api_key)
    return Traveller(there, new_visitor_at(there), elsewhere)


def link(**asked: str) -> str:
    return f"/RequestHandler.aspx?{urlencode({'provider': 'Globex', 'callback': BACK, **asked})}"


def told(page: Seen) -> dict[str, str]:
    """What the program's callback gets by its address."""
    assert page.address.startswith(BACK), page.address
    parts = urlsplit(page.address)
    return {name: values[0] for name, values in parse_qs(parts.query or parts.fragment).items()}


def exchanged(server: TenantServer, token: str) -> Any:
    return server.send("GET", "/api/v2/access_token", token=token, secret=server.api_secret, with_secret=False)


def test_its_server_exchanges_what_comes_back_once(server: TenantServer, traveller: Traveller) -> None:
    page = traveller.comes(start=link(callbacktype="QueryString"))
    token = told(page)["token"]
    bearer = answered(exchanged(server, token))["access_token"]
    profile = answered(server.send("GET", f"{AUTH}/account", bearer=bearer))
    assert (profile["FirstName"], profile["RegistrationProvider"]) == ("Ada", "globex")
    assert [one["ID"] for one in profile["Identities"]] == ["1"]
    assert refused(exchanged(server, token))[1] == 903


def test_the_access_token_itself_comes_back_where_the_tenant_says_so(
    server: TenantServer, traveller: Traveller
) -> None:
    server.restate(token_in_return_url=True)
    page = traveller.comes(start=link(callbacktype="hash", is_access_token="true"))
    bearer = told(page)["lr-token"]
    assert answered(server.send("GET", f"{AUTH}/account", bearer=bearer))["FirstName"] == "Ada"
    traveller.visitor.open("/logout").press("Sign out")
    assert refused(server.send("GET", f"{AUTH}/account", bearer=bearer)) == (401, 1409)


def test_access_token_is_a_request_token_elsewhere(server: TenantServer, traveller: Traveller) -> None:
    token = told(traveller.comes(start=link(callbacktype="hash", is_access_token="true")))["lr-token"]
    assert refused(server.send("GET", f"{AUTH}/account", bearer=token)) == (401, 1409)
    answered(exchanged(server, token))


@pytest.mark.parametrize("callback", [f"{BACK}/", f"{BACK}/go?to=https://evil.example", f"{BACK}#x", f"{BACK}?a=b"])
def test_access_token_goes_to_a_whole_listed_address(server: TenantServer, traveller: Traveller, callback: str) -> None:
    """An entry also allows every path below it, where an open redirect would leak the token."""
    server.restate(token_in_return_url=True)
    refusal = traveller.visitor.open(link(callback=callback, callbacktype="hash", is_access_token="true"))
    assert refusal.heading == "We cannot send you back"
    traveller.comes(start=link(callback=callback, callbacktype="hash"))  # the request token may


def someone_in(server: TenantServer, traveller: Traveller) -> str:
    """Sign another account in with the browser; return its UID."""
    address = "bob@example.test"
    made = server.create(Email=[{"Type": "Primary", "Value": address}], FirstName="Bob", EmailVerified=True)
    page = traveller.visitor.open("/login").press("Sign in", identifier=address, password=PASSWORD)
    assert page.heading == "Bob", page.text
    return str(made["Uid"])


@pytest.mark.parametrize("way", [{"callbacktype": "hash", "is_access_token": "true"}, {"callbacktype": "hash"}])
def test_a_link_gets_nothing_of_whoever_is_signed_in(
    server: TenantServer, traveller: Traveller, way: dict[str, str]
) -> None:
    """The attempt's page is reopened, or the provider denies, in a browser that is signed in to another account."""
    server.restate(token_in_return_url=True)
    someone_in(server, traveller)
    for subject in (None, "stranger"):
        led = traveller.visitor.open(link(**way, disablesignup="true"))
        claims = {"email": "stranger@example.test", "email_verified": False}
        back = traveller.denied(led) if subject is None else traveller.elsewhere.way_back(led.address, **ADA | claims)
        page = traveller.visitor.open(back)
        assert not page.address.startswith(BACK), page.address


def test_a_guid_gets_nothing_of_whoever_is_signed_in(server: TenantServer, traveller: Traveller) -> None:
    someone_in(server, traveller)
    led = traveller.visitor.open(link(callbackguid=GUID))
    page = traveller.visitor.open(traveller.denied(led))
    if "Yes, I began it there" in page.text:
        page.press("Yes, I began it there")
    assert refused(ping(server)) == (403, 1140)


def test_who_comes_back_is_handed_over_whoever_was_signed_in(server: TenantServer, traveller: Traveller) -> None:
    someone_in(server, traveller)
    token = told(traveller.comes(start=link(callbacktype="hash")))["lr-token"]
    bearer = answered(exchanged(server, token))["access_token"]
    assert answered(server.send("GET", f"{AUTH}/account", bearer=bearer))["FirstName"] == "Ada"


def test_by_default_it_is_posted(traveller: Traveller) -> None:
    page = traveller.comes(start=link())
    form = page.form("Continue")
    assert form.action == BACK
    assert len(form.fields["token"]) > 30


def test_an_identity_to_link_signs_nobody_in(server: TenantServer, traveller: Traveller) -> None:
    uid = str(server.create()["Uid"])
    bearer = str(server.tokens(uid)["access_token"])
    candidate = told(traveller.comes(start=link(callbacktype="querystring", ac_linking="true")))["token"]
    assert not traveller.visitor.cookies("session")
    assert refused(exchanged(server, candidate))[1] == 903
    answered(server.send("POST", f"{AUTH}/socialidentity", {"candidatetoken": candidate}, bearer=bearer))
    assert traveller.comes().heading != "Ada Lovelace"
    assert server.read(uid)["Identities"][0]["Provider"] == "globex"


@pytest.mark.parametrize("callback", ["https://evil.example/", "javascript:alert(1)", f"{BACK}@evil.example"])
def test_it_leads_nowhere_else(traveller: Traveller, callback: str) -> None:
    assert traveller.visitor.open(link(callback=callback)).heading == "We cannot send you back"


def test_a_wrong_key_is_refused(traveller: Traveller) -> None:
    assert traveller.visitor.open(link(apikey=GUID)).status == 403


def ping(server: TenantServer) -> Any:
    return server.send("GET", f"{AUTH}/account/ping", clientguid=GUID, with_secret=False)


def test_without_a_callback_the_program_gets_in_after_a_yes_and_once(
    server: TenantServer, traveller: Traveller
) -> None:
    """Whoever sends somebody a link with a GUID of their own would get into the account otherwise."""
    page = traveller.comes(start=link(nocallback="true", callbackguid=GUID))
    assert page.heading == "Did you begin this on another device?"
    assert refused(ping(server)) == (403, 1140)
    assert page.press("Yes, I began it there").heading == "You said yes"
    login = answered(ping(server))
    assert login["Profile"]["FirstName"] == "Ada"
    assert refused(ping(server))[0] == 403
    assert page.visitor.open(link(callbackguid=GUID)).status == 403


def test_a_no_hands_nothing_over(server: TenantServer, traveller: Traveller) -> None:
    page = traveller.comes(start=link(callbackguid=GUID))
    assert page.press("No, that is not me").heading == "You said no"
    assert refused(ping(server)) == (403, 1140)
    again = page.press("Yes, I began it there")
    assert again.heading != "You said yes"
    assert refused(ping(server)) == (403, 1140)


def test_whoever_is_new_is_not_registered_where_the_link_says_so(traveller: Traveller) -> None:
    assert "Nobody here is connected" in traveller.comes(start=link(disablesignup="true")).text
