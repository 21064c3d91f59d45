"""An organization that demands its connection: pages ask nobody of its domains, or of a sign-in for it, for a password."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.fakes.identity_provider import CLIENT, SECRET
from tests.support.oauth.relying_party import RelyingParty
from tests.support.organizations.connected_organization import DOMAIN, MINA, ConnectedOrganization, NewConnected
from tests.support.organizations.management import PATH
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import VisitedPage

DEMAND: dict[str, Any] = {"MethodPolicy": {"AllowedMethods": ["connection"]}}
STRONG = "A staple & 9 horses"
NOBODY = f"nobody@{DOMAIN}"
FIRST, SECOND = "Continue with sign-in", "Continue with okta"
ONLY = "Globex Gardens requires a connected account"
ANOTHER_WAY = "Sign in another way"


def demanding(new_connected: NewConnected, *, connections: int = 1, **settings: Any) -> ConnectedOrganization:
    """Return an organization that demands its connections, none of which has a domain of its own."""
    globex = new_connected(settings=settings, Domain=None)
    if connections > 1:
        add_connection(globex)
    globex.set_policies(**DEMAND)
    return globex


def add_connection(globex: ConnectedOrganization, **members: Any) -> str:
    """Add a second connection; return its id."""
    body = {
        "Name": "okta", "ConnectionType": "oidc_custom", "Issuer": globex.provider.url, "ClientId": CLIENT,
        "ClientSecret": SECRET, **members,
    }  # fmt: skip
    return str(answered(globex.business.send("POST", f"{PATH}/{globex.org}/connections", body))["Id"])


def shop_of(globex: ConnectedOrganization) -> RelyingParty:
    return globex.tenant.application("shop", client_name="Shop", organization_usage="allow")


def at_provider(globex: ConnectedOrganization, page: VisitedPage) -> bool:
    return page.address.startswith(f"{globex.provider.url}/authorize")


def typed(globex: ConnectedOrganization, email: str, *, is_stepwise: bool) -> VisitedPage:
    """Type an address into the first page of a new browser."""
    page = globex.new_visitor_at(globex.tenant).open("/login")
    if is_stepwise:
        return page.press("Continue", identifier=email)
    return page.press("Sign in", identifier=email, password="correct horse 7")


def buttons(page: VisitedPage) -> list[str]:
    """Return the connections that a page offers."""
    return re.findall(r'<span dir="auto">(Continue with [^<]+)</span>', page.html)


def asks_password(page: VisitedPage) -> bool:
    return 'name="password"' in page.html


@pytest.mark.both_databases
@pytest.mark.parametrize("is_stepwise", [True, False])
def test_verified_domain_leads_to_demanded_connection(new_connected: NewConnected, is_stepwise: bool) -> None:
    """The connection has no domain of its own; people with and without an account are led alike."""
    globex = demanding(new_connected, identifier_first=is_stepwise)
    globex.tenant.person(MINA["email"])
    pages = [typed(globex, email, is_stepwise=is_stepwise) for email in (MINA["email"], NOBODY)]
    assert [at_provider(globex, page) for page in pages] == [True, True]
    assert pages[0].cost == pages[1].cost
    assert pages[0].visitor.open(globex.callback(pages[0])).profile_name == MINA["email"]


@pytest.mark.parametrize("is_stepwise", [True, False])
def test_several_connections_are_offered_without_password(new_connected: NewConnected, is_stepwise: bool) -> None:
    globex = demanding(new_connected, connections=2, identifier_first=is_stepwise)
    globex.tenant.person(MINA["email"])
    pages = [typed(globex, email, is_stepwise=is_stepwise) for email in (MINA["email"], NOBODY)]
    assert [(buttons(page), asks_password(page), ONLY in page.text) for page in pages] == [
        ([FIRST, SECOND], False, True)
    ] * 2
    assert pages[0].comparable_text(MINA["email"]) == pages[1].comparable_text(NOBODY)
    assert pages[0].cost == pages[1].cost
    redirected = pages[0].follow(SECOND)
    assert pages[0].visitor.open(globex.callback(redirected)).heading == "Profile"


@pytest.mark.parametrize("is_stepwise", [True, False])
def test_demand_lets_people_in_who_are_no_members(new_connected: NewConnected, is_stepwise: bool) -> None:
    """Only domains decide what the page offers, so it keeps a way to the password; policies bind members."""
    globex = demanding(new_connected, connections=2, identifier_first=is_stepwise)
    mina = globex.tenant.person(MINA["email"])
    page = typed(globex, mina.email, is_stepwise=is_stepwise).follow(ANOTHER_WAY)
    if is_stepwise:
        page = page.press("Continue", identifier=mina.email)
    assert page.press("Sign in", identifier=mina.email, password=mina.password).heading == "Profile"


def test_domain_without_demand_leads_nowhere(new_connected: NewConnected) -> None:
    globex = new_connected(settings={"identifier_first": True}, Domain=None)
    for methods in (None, ["password"], ["password", "connection"]):
        globex.set_policies(MethodPolicy={"AllowedMethods": methods})
        assert asks_password(typed(globex, MINA["email"], is_stepwise=True))


@pytest.mark.parametrize("change", ["connection", "organization", "policy", "domain"])
def test_end_of_the_demand_lets_passwords_in(new_connected: NewConnected, change: str) -> None:
    globex = demanding(new_connected, identifier_first=True)
    globex.set_policies(JITPolicy={"Enabled": False})
    assert at_provider(globex, typed(globex, MINA["email"], is_stepwise=True))
    if change == "connection":
        globex.set_active(False)
    elif change == "organization":
        globex.business.deactivate(globex.org)
    elif change == "policy":
        globex.set_policies(MethodPolicy={"AllowedMethods": None})
    else:
        answered(globex.business.send("PUT", f"{PATH}/{globex.org}", {"Domains": []}))
    assert asks_password(typed(globex, MINA["email"], is_stepwise=True))
    assert "form-action 'self' https:" not in policy_of(globex.new_visitor_at(globex.tenant).open("/login"))


def policy_of(page: VisitedPage) -> str:
    assert page.answer is not None
    return page.answer.headers["Content-Security-Policy"]


def test_methods_that_are_switched_off_leave_a_demand(new_connected: NewConnected) -> None:
    """The tenant has no passkeys any more, so the policy leaves the connection."""
    globex = new_connected(settings={"identifier_first": True, "passkeys": True}, Domain=None)
    globex.set_policies(MethodPolicy={"AllowedMethods": ["passkey", "connection"]})
    globex.tenant.change_settings(passkeys=False)
    assert at_provider(globex, typed(globex, MINA["email"], is_stepwise=True))


def test_connection_of_the_domain_comes_first(new_connected: NewConnected) -> None:
    globex = demanding(new_connected, identifier_first=True)
    second = add_connection(globex, Domain=DOMAIN)
    page = typed(globex, MINA["email"], is_stepwise=True)
    assert at_provider(globex, page)
    page.visitor.open(globex.callback(page))
    assert [provider for provider, _ in globex.linked()] == [second]


@pytest.mark.parametrize("parameters", [{"domain_hint": DOMAIN}, {"login_hint": NOBODY}], ids=["domain", "login"])
def test_hint_of_several_connections_offers_them(new_connected: NewConnected, parameters: dict[str, str]) -> None:
    globex = demanding(new_connected, connections=2, identifier_first=True)
    page = globex.visitor.authorize(shop_of(globex), **parameters)
    assert (buttons(page), asks_password(page)) == ([FIRST, SECOND], False)


def test_refused_password_offers_every_connection(new_connected: NewConnected) -> None:
    globex = demanding(new_connected, connections=2)
    mina = globex.tenant.person(MINA["email"])
    answered(globex.business.assign(mina.uid, globex.org, globex.member_role))
    page = globex.visitor.open("/login?direct=y").press("Sign in", identifier=mina.email, password=mina.password)
    assert (buttons(page), asks_password(page), ONLY in page.text) == ([FIRST, SECOND], False, True)
    assert ANOTHER_WAY not in page.text


@pytest.mark.parametrize("step", [True, False])
def test_sign_in_for_organization_offers_its_connections(new_connected: NewConnected, step: bool) -> None:
    """Beside the other methods, as long as it does not demand them."""
    globex = new_connected(settings={"identifier_first": step})
    shop = shop_of(globex)
    page = globex.visitor.authorize(shop, organization=globex.org)
    assert (buttons(page), asks_password(page)) == (["Continue with Globex Gardens"], True)
    assert page.heading == "Sign in to Globex Gardens"
    assert "Globex" not in globex.visitor.authorize(shop).text
    redirected = page.follow("Continue with Globex Gardens")
    assert "code" in globex.visitor.open(globex.callback(redirected)).query
    globex.visitor.forget("session")
    assert "Globex Gardens Last used" in globex.visitor.authorize(shop, organization=globex.org).text


@pytest.mark.both_databases
def test_sign_in_for_demanding_organization_offers_them_alone(new_connected: NewConnected) -> None:
    globex = demanding(new_connected, connections=2)
    page = globex.visitor.authorize(shop_of(globex), organization=globex.org)
    assert (buttons(page), asks_password(page)) == ([FIRST, SECOND], False)
    assert not any(globex.visitor.open(page.address).cost.values())
    redirected = page.follow(SECOND)
    assert "code" in globex.visitor.open(globex.callback(redirected)).query


def test_canceled_sign_in_offers_the_connection_again(new_connected: NewConnected) -> None:
    """After a refusal the page offers the connection alone; a consultant still finds the password."""
    globex = demanding(new_connected)
    guest = globex.tenant.person("guest@partner.example")
    answered(globex.business.assign(guest.uid, globex.org, globex.member_role))
    redirected = globex.visitor.authorize(shop_of(globex), organization=globex.org)
    assert at_provider(globex, redirected)
    refused = globex.provider.refuses(redirected.address)
    query = f"error=access_denied&state={refused['state']}&iss={refused['iss']}"
    page = globex.visitor.open(f"/{globex.path}/callback?{query}")
    assert "Sign-in canceled" in page.text
    assert (buttons(page), asks_password(page)) == (["Continue with Globex Gardens"], False)
    page = page.follow(ANOTHER_WAY)
    assert "code" in page.press("Sign in", identifier=guest.email, password=guest.password).query


def test_choosing_a_password_does_not_leave_the_demand(new_connected: NewConnected) -> None:
    globex = demanding(new_connected, connections=2)
    mina = globex.tenant.person(MINA["email"])
    answered(globex.business.assign(mina.uid, globex.org, globex.member_role))
    page = globex.visitor.authorize(shop_of(globex), organization=globex.org).follow(ANOTHER_WAY)
    page = page.press("Sign in", identifier=mina.email, password=mina.password)
    assert (buttons(page), asks_password(page)) == ([FIRST, SECOND], False)
    assert globex.visitor.open("/profile").is_sign_in


@pytest.mark.parametrize("address", ["/auth?org_name={org}", "/auth.aspx?action=login&org=Globex"])
def test_older_address_offers_them_alone(new_connected: NewConnected, address: str) -> None:
    globex = demanding(new_connected, connections=2)
    page = globex.visitor.open(address.format(org=globex.org))
    assert (buttons(page), asks_password(page)) == ([FIRST, SECOND], False)


@pytest.mark.both_databases
def test_unknown_organizations_cost_the_same(new_connected: NewConnected) -> None:
    globex = demanding(new_connected, connections=2)
    shop = shop_of(globex)
    costs = [globex.visitor.authorize(shop, organization=name).cost for name in (globex.org, "Globex", "nowhere")]
    assert costs[0] == costs[1] == costs[2]


def test_many_connections_fit_into_the_cookies(new_connected: NewConnected) -> None:
    """Five sign-ins share one header, of which common servers and proxies accept 8,000 characters."""
    globex = demanding(new_connected)
    look = {"Name": "<b>Globex</b> | " + "é" * 60, "LogoURL": f"https://cdn.example/{'l' * 130}"}
    answered(globex.business.send("PUT", f"{PATH}/{globex.org}", {"Display": look}))
    globex.visitor.open(f"/auth?org_name={globex.org}")
    for number in range(10):
        add_connection(globex, Name=f"more-{number}-{'x' * 50}")
    shop = shop_of(globex)
    pages = [globex.visitor.authorize(shop, organization=globex.org) for _ in range(6)]
    assert buttons(pages[0]) == ["Continue with sign-in", *(f"Continue with more-{n}-{'x' * 23}" for n in range(5))]
    assert sum(len(cookie.value) for cookie in (globex.visitor.client._cookies or {}).values()) < 8_000
    assert pages[5].follow("Continue with sign-in").address.startswith(globex.provider.url)


def test_organization_without_look_shows_no_name(new_connected: NewConnected) -> None:
    """A name that only its members know stays unknown to a stranger who types an address of its domain (decision 0196)."""
    globex = demanding(new_connected, connections=2, identifier_first=True)
    answered(globex.business.send("PUT", f"{PATH}/{globex.org}", {"Display": None}))
    page = typed(globex, NOBODY, is_stepwise=True)
    assert f"{DOMAIN} requires a connected account" in page.text
    assert "Globex" not in page.text
    assert buttons(page) == ["Continue with sign-in", "Continue with okta"]
    page.follow("Continue with okta")
    assert "Globex" not in page.visitor.cookie("method").value


@pytest.mark.parametrize("connections", [1, 2])
def test_registration_leads_to_the_demanded_connection(new_connected: NewConnected, connections: int) -> None:
    """A password would sign nobody in; an address with an account and one without are led alike, and no account is made."""
    globex = demanding(new_connected, connections=connections)
    globex.tenant.person(MINA["email"])
    count = globex.count_accounts()
    for email in (MINA["email"], NOBODY):
        page = globex.new_visitor_at(globex.tenant).open("/register")
        assert "form-action 'self' https:" in policy_of(page)
        page = page.press("Create account", email=email, password=STRONG)
        assert at_provider(globex, page) if connections == 1 else buttons(page) == [FIRST, SECOND]
    assert globex.count_accounts() == count


@pytest.mark.parametrize("jit", [{"Enabled": False}, {"Enabled": True, "RequireApproval": True}])
def test_provider_without_new_accounts_leaves_registration(new_connected: NewConnected, jit: dict[str, bool]) -> None:
    globex = demanding(new_connected)
    globex.set_policies(JITPolicy=jit)
    page = globex.visitor.open("/register").press("Create account", email=NOBODY, password=STRONG)
    assert page.heading == "Check your email"


def test_registration_of_other_domains_stays(new_connected: NewConnected) -> None:
    """Also where a connection has the domain, which nothing demands."""
    globex = new_connected()
    for email in (NOBODY, "abe@elsewhere.example"):
        page = globex.new_visitor_at(globex.tenant).open("/register")
        assert page.press("Create account", email=email, password=STRONG).heading == "Check your email"


def test_registration_for_organization_offers_its_connections(new_connected: NewConnected) -> None:
    globex = demanding(new_connected, connections=2)
    page = globex.visitor.authorize(shop_of(globex), organization=globex.org, prompt="create")
    assert page.heading == "Create your account"
    assert (buttons(page), asks_password(page)) == ([FIRST, SECOND], False)
    assert not any(globex.visitor.open(page.address).cost.values())
    assert "code" in globex.visitor.open(globex.callback(page.follow(FIRST))).query


def test_sent_form_makes_no_account_for_the_organization(new_connected: NewConnected) -> None:
    """A theme's own template may still show the form."""
    globex = demanding(new_connected, connections=2)
    count = globex.count_accounts()
    page = globex.visitor.authorize(shop_of(globex), organization=globex.org, prompt="create")
    hidden = globex.visitor.open(f"/login?attempt={page.query['attempt']}&direct=y").form("Sign in").fields
    typed_now = {"email": "abe@elsewhere.example", "password": STRONG}
    answer = globex.visitor.send("POST", f"{globex.visitor.home}/register", {**hidden, **typed_now})
    assert globex.count_accounts() == count
    assert (buttons(answer), asks_password(answer)) == ([FIRST, SECOND], False)


@pytest.mark.parametrize("address", ["/auth?org_name={org}", "/auth.aspx?action=login&org=Globex"])
def test_older_address_opens_the_only_connection(new_connected: NewConnected, address: str) -> None:
    globex = demanding(new_connected)
    page = globex.visitor.open(address.format(org=globex.org))
    assert at_provider(globex, page)
    assert globex.visitor.open(globex.callback(page)).heading == "Profile"


def test_reset_password_does_not_leave_the_demand(new_connected: NewConnected) -> None:
    """An account of the connection has no password; one that it sets by email signs it in nowhere, and the page leads on."""
    globex = demanding(new_connected)
    globex.sign_in()
    globex.visitor.forget("session")
    assert globex.linked()
    page = globex.visitor.open("/forgot-password").press("Send reset link", identifier=MINA["email"])
    (mail,) = mails_to(globex.tenant.services, globex.tenant.tenant_id, MINA["email"])[-1:]
    page = globex.visitor.open(link_in(mail)).press("Save password", password=STRONG)
    assert page.visitor.open("/profile").is_sign_in
    page = globex.visitor.open("/login?direct=y")
    page = page.press("Sign in", identifier=MINA["email"], password=STRONG)
    assert (buttons(page), asks_password(page)) == (["Continue with Globex Gardens"], False)


@pytest.mark.parametrize("has_identity", [True, False])
def test_reauthentication_asks_for_the_demanded_connection(new_connected: NewConnected, has_identity: bool) -> None:
    """The session began by password before the demand; the password would be refused after it was typed."""
    globex = demanding(new_connected)
    globex.set_policies(MethodPolicy={"AllowedMethods": None})
    mina = globex.tenant.person(MINA["email"])
    if has_identity:
        globex.sign_in_anew()
    else:
        answered(globex.business.assign(mina.uid, globex.org, globex.member_role))
    globex.visitor.open("/login?direct=y").press("Sign in", identifier=mina.email, password=mina.password)
    globex.set_policies(**DEMAND)
    page = globex.visitor.authorize(shop_of(globex), prompt="login")
    assert page.heading == "Confirm it’s you"
    assert (buttons(page), asks_password(page)) == (["Continue with Globex Gardens"], False)
    redirected = page.follow("Continue with Globex Gardens")
    assert "code" in globex.visitor.open(globex.callback(redirected, auth_time=globex.provider.now)).query
