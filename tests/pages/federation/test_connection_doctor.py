"""A person whose provider's answer is refused sees a reference, by which operators find the failed check."""

from __future__ import annotations

import re

import pytest

from tests.support.accounts.connection_failures import traces_in
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.account_security import signed_in
from tests.support.journeys.federated_sign_in import ADA, START_URL, FederatedPageUser, link_identity
from tests.support.oauth.world import NewWorld
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases


@pytest.fixture
def user(new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider) -> FederatedPageUser:
    tenant = new_world(connections={"globex": fake_provider.openid(title="Globex", trusts_email=True)})
    return FederatedPageUser(tenant, new_visitor_at(tenant), fake_provider)


def failures(user: FederatedPageUser) -> list[tuple[str, str, str]]:
    """Return connection, check and reference of each trace."""
    traces = traces_in(user.tenant.services, user.tenant.tenant_id)
    return [(trace.connection, trace.failed_check, trace.reference) for trace in traces]


def shown_reference(page: VisitedPage) -> str:
    (reference,) = re.findall(r"mention this ID: ?([B-Z]{4}-[B-Z]{4}-[B-Z]{4})", page.text)
    return str(reference)


def test_page_of_a_denial_shows_the_reference(user: FederatedPageUser) -> None:
    page = user.visitor.open(user.denied(user.visitor.open(START_URL)))
    assert failures(user) == [("globex", "authorization_answer", shown_reference(page))]


def test_page_of_a_broken_provider_shows_the_reference(user: FederatedPageUser) -> None:
    user.fake_provider.metadata = {"token_endpoint": None}
    page = user.visitor.open(START_URL)
    assert failures(user) == [("globex", "discovery", shown_reference(page))]


def test_page_of_a_forged_token_shows_the_reference(user: FederatedPageUser) -> None:
    user.fake_provider.claims["nonce"] = "another"
    page = user.sign_in()
    assert failures(user) == [("globex", "nonce", shown_reference(page))]
    assert "nonce" not in page.text, "the page tells no more than before"


def test_state_of_another_browser_shows_the_reference(user: FederatedPageUser, new_visitor_at: NewVisitorAt) -> None:
    callback = user.fake_provider.callback_url(user.visitor.open(START_URL).address, **ADA, sub="1")
    other = new_visitor_at(user.tenant)
    other.open("/login")
    page = other.open(callback)
    assert page.heading == "Let’s start over"
    assert failures(user)[0] == ("globex", "state", shown_reference(page))
    assert user.visitor.open(callback).heading == "Profile", "the browser that began still can"


def test_browser_without_cookies_shows_its_reference(user: FederatedPageUser) -> None:
    """It is led to the callback twice, to find out whether it keeps cookies."""
    callback = user.fake_provider.callback_url(user.visitor.open(START_URL).address, **ADA, sub="1")
    blocking = Visitor(PlainClient(user.visitor.client.application, use_cookies=False), user.visitor.home)
    page = blocking.open(callback)
    assert page.heading == "Cookies are blocked"
    assert failures(user) == [("globex", "state", shown_reference(page))]
    assert user.visitor.open(callback).heading == "Profile", "the browser that began still can"


def test_browser_that_lost_its_cookies_shows_its_reference(
    user: FederatedPageUser, new_visitor_at: NewVisitorAt
) -> None:
    callback = user.fake_provider.callback_url(user.visitor.open(START_URL).address, **ADA, sub="1")
    page = new_visitor_at(user.tenant).open(callback)
    assert page.heading == "Let’s start over"
    assert failures(user) == [("globex", "state", shown_reference(page))]


@pytest.mark.parametrize("state", ["", "x", "attempt.unknown", "a" * 5_000])
def test_unknown_state_leaves_no_trace(user: FederatedPageUser, state: str) -> None:
    assert user.visitor.open("/login").status == 200
    assert user.visitor.open(f"/socialauth/validate.sauth?code=1&state={state}").status == 410
    assert failures(user) == []


def test_identity_of_another_account_shows_the_reference(user: FederatedPageUser) -> None:
    bob, ada = user.tenant.person("bob@example.test"), user.tenant.person("ada@elsewhere.test")
    link_identity(user.tenant, ada, "globex", "1")
    redirected = signed_in(user.visitor, bob, "/identities/add?provider=globex").press("Continue to Globex")
    page = user.visitor.open(user.fake_provider.callback_url(redirected.address, **ADA, sub="1"))
    assert "Already connected" in page.text
    assert failures(user) == [("globex", "linking", shown_reference(page))]


def test_refused_domain_is_recorded_without_the_address(user: FederatedPageUser) -> None:
    user.tenant.change_settings(email_access={"allow": ["example.com"]})
    page = user.sign_in()
    (trace,) = traces_in(user.tenant.services, user.tenant.tenant_id)
    assert (trace.failed_check, trace.reference) == ("email", shown_reference(page))
    assert trace.received == "an address of example.test"


def test_unknown_identity_without_registration_is_recorded(user: FederatedPageUser) -> None:
    user.tenant.change_settings(registration=False)
    page = user.sign_in()
    assert failures(user) == [("globex", "account", shown_reference(page))]


@pytest.mark.parametrize(
    "text", ["call-0800-123456", "<script>alert(1)</script>", "BCDF-GHJK", "https.evil.example", "A" * 64]
)
def test_address_adds_no_text_as_a_reference(user: FederatedPageUser, text: str) -> None:
    page = user.visitor.open(f"/login?needs=broken&reference={text}")
    assert "This provider isn’t responding" in page.text
    assert "mention this ID" not in page.text


def test_reference_of_a_proxy_is_shown(user: FederatedPageUser) -> None:
    reference = "0b7bd7a4-3ad6-4dd4-9f0a-5f2f5f0d9c3a"
    assert reference in user.visitor.open(f"/login?needs=broken&reference={reference}").text


def test_states_of_other_sign_ins_are_limited(user: FederatedPageUser, new_visitor_at: NewVisitorAt) -> None:
    """One open state, sent again and again, displaces no trace of the connection without a limit."""
    user.tenant.change_settings(limits={"federation_starts_per_minute_per_address": 5})
    first, second = (user.fake_provider.signs_in(user.visitor.open(START_URL).address, **ADA) for _ in range(2))
    mixed = f"{first['state'].rpartition('.')[0]}.{second['state'].rpartition('.')[2]}"
    other = new_visitor_at(user.tenant)
    other.open("/login")
    for browser, state in ((user.visitor, mixed), (other, first["state"])):
        for _ in range(6):
            browser.open(f"/socialauth/validate.sauth?code=1&state={state}")
    assert len(failures(user)) <= 5
