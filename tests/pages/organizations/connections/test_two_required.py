"""A member of two organizations that both require their own connection: the session by one does not open the other."""

from __future__ import annotations

import pytest

from tests.support.oauth.relying_party import RelyingParty
from tests.support.organizations.connected_organization import MINA, ConnectedOrganization, NewConnected
from tests.support.organizations.management import PATH
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import VisitedPage

CONNECTION = {"MethodPolicy": {"AllowedMethods": ["connection"]}}
AT_INITECH = "mina@initech.example"
ONLY_INITECH = "Initech Gardens requires a connected account"


@pytest.fixture
def initech(globex: ConnectedOrganization, new_connected: NewConnected) -> ConnectedOrganization:
    """A second organization whose provider knows Mina by her second address; both require their connection."""
    initech = new_connected(globex.tenant, name="Initech", domain="initech.example")
    owner = globex.business.role("Owner", permissions=(globex.business.permission("org:own"),))
    globex.sign_in()
    account = globex.account()
    assert account is not None
    emails = [{"Type": "Primary", "Value": MINA["email"]}, {"Type": "Work", "Value": AT_INITECH}]
    answered(globex.business.tenant.send("PUT", f"/identity/v2/manage/account/{account.uid}/email", {"Email": emails}))
    for item in (globex, initech):
        answered(globex.business.assign(account.uid, item.org, owner))
    by_initech(initech, initech.new_visitor_at(initech.tenant).open(initech.login_url))
    for item in (globex, initech):
        item.set_policies(**CONNECTION)
    globex.visitor.forget("session")
    globex.sign_in()
    return initech


@pytest.fixture
def shop(globex: ConnectedOrganization) -> RelyingParty:
    return globex.tenant.application("shop", client_name="Shop", organization_usage="allow")


def by_initech(initech: ConnectedOrganization, redirected: VisitedPage, **claims: object) -> VisitedPage:
    """Sign in at the provider of Initech."""
    return redirected.visitor.open(initech.callback(redirected, sub="at-initech", email=AT_INITECH, **claims))


@pytest.mark.both_databases
def test_tokens_of_the_other_need_its_connection(
    globex: ConnectedOrganization, initech: ConnectedOrganization, shop: RelyingParty
) -> None:
    assert "code" in globex.visitor.authorize(shop, organization=globex.org).query
    asked = globex.visitor.authorize(shop, organization=initech.org)
    assert "code" not in asked.query
    back = by_initech(initech, asked)
    assert "code" in back.query, back.text


def test_silent_request_for_the_other_is_refused(
    globex: ConnectedOrganization, initech: ConnectedOrganization, shop: RelyingParty
) -> None:
    answer = globex.visitor.authorize(shop, organization=initech.org, prompt="none")
    assert answer.query["error"] == "login_required"
    assert "code" in globex.visitor.authorize(shop, organization=globex.org, prompt="none").query


def test_choice_of_the_other_asks_for_its_connection(
    globex: ConnectedOrganization, initech: ConnectedOrganization, shop: RelyingParty
) -> None:
    page = globex.visitor.authorize(shop, prompt="select_organization")
    asked = page.press("Initech Gardens")
    assert ONLY_INITECH in asked.text
    answer = by_initech(initech, asked.follow("Continue with Initech Gardens"))
    assert "code" in answer.query, answer.text


def test_another_sign_in_at_the_wrong_one_gets_no_code(
    globex: ConnectedOrganization, initech: ConnectedOrganization, shop: RelyingParty
) -> None:
    asked = globex.visitor.authorize(shop, organization=initech.org)
    attempt = asked.query["state"].partition(".")[0]
    redirected = globex.visitor.open(f"/sign-in/with?provider={globex.id}&attempt={attempt}")
    page = globex.visitor.open(globex.callback(redirected, auth_time=globex.provider.now))
    assert "code" not in page.query
    assert ONLY_INITECH in page.text


@pytest.mark.parametrize("page", ["members", "settings"])
def test_pages_of_the_other_lead_to_its_provider(
    globex: ConnectedOrganization, initech: ConnectedOrganization, page: str
) -> None:
    opened = globex.visitor.open(f"/organizations/{page}?id={globex.org}")
    assert opened.address.startswith(f"{globex.visitor.home}/organizations/{page}")
    redirected = globex.visitor.open(f"/organizations/{page}?id={initech.org}")
    assert redirected.address.startswith(f"{initech.provider.url}/authorize")
    back = by_initech(initech, redirected)
    assert back.address == f"{globex.visitor.home}/organizations/{page}?id={initech.org}"


def test_form_of_the_other_changes_nothing(globex: ConnectedOrganization, initech: ConnectedOrganization) -> None:
    """Opened before the organization required its connection."""
    initech.set_policies(MethodPolicy={"AllowedMethods": None})
    page = globex.visitor.open(f"/organizations/settings?id={initech.org}")
    initech.set_policies(**CONNECTION)
    page.press("Save changes", name="Taken over")
    assert answered(globex.business.send("GET", f"{PATH}/{initech.org}"))["Name"] == "Initech"


def test_member_without_the_connection_is_not_asked(
    globex: ConnectedOrganization, new_connected: NewConnected, shop: RelyingParty
) -> None:
    """As at the sign-in: a consultant with no address of the organization's domains keeps other ways to sign in."""
    partner = new_connected(globex.tenant, name="Partner", domain="partner.example")
    globex.sign_in()
    account = globex.account()
    assert account is not None
    answered(globex.business.assign(account.uid, partner.org, partner.member_role))
    partner.set_policies(**CONNECTION)
    assert "code" in globex.visitor.authorize(shop, organization=partner.org, prompt="none").query
