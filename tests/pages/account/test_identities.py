"""The page of linked identities: list, link, unlink."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from app.contract.federation.pages.connection_pages import CALLBACK
from app.identity.directory.accounts import account_store, linked_identities
from tests.support.accounts.mailbox import code_in, mails_to
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.account_security import signed_in
from tests.support.journeys.federated_sign_in import link_identity
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.tenants.callers import call_of
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases


@pytest.fixture
def tenant(new_world: NewWorld, fake_provider: FakeProvider) -> World:
    return new_world(connections={name: fake_provider.openid(title=name.title()) for name in ("globex", "initech")})


@pytest.fixture
def visitor(tenant: World, new_visitor_at: NewVisitorAt) -> Visitor:
    browser: Visitor = new_visitor_at(tenant)
    return browser


@pytest.fixture
def ada(tenant: World) -> Person:
    return tenant.person("ada@example.com")


def linked_providers(tenant: World, person: Person) -> list[str]:
    with call_of(tenant.services, tenant.name) as call:
        account = account_store.by_uid(call, person.uid)
        assert account is not None
        return [identity.provider for identity in linked_identities.of(account)]


def offered_providers(page: VisitedPage) -> list[str]:
    """Return the providers that the page offers to link."""
    return re.findall(r'href="/identities/add\?provider=(\w+)"', page.html)


def go_to_provider(visitor: Visitor, ada: Person) -> VisitedPage:
    """Sign in and go to the provider from the page that links an identity."""
    return signed_in(visitor, ada, "/identities/add?provider=globex").press("Continue to Globex")


def test_linked_identity_signs_in(tenant: World, visitor: Visitor, ada: Person, fake_provider: FakeProvider) -> None:
    page = signed_in(visitor, ada, "/security").follow("Connected accounts None yet")
    assert (page.heading, offered_providers(page)) == ("Connected accounts", ["globex", "initech"])
    requested = page.follow("Connect")
    assert requested.heading == "Connect Globex"
    redirected = requested.press("Continue to Globex")
    assert linked_providers(tenant, ada) == [], "nothing is linked before the callback"
    after = visitor.open(fake_provider.callback_url(redirected.address, sub="4711", email="countess@globex.example"))
    assert (after.heading, after.query) == ("Connected accounts", {"done": "linked"})
    assert "countess@globex.example" in after.text
    assert (linked_providers(tenant, ada), offered_providers(after)) == (["globex"], ["initech"])
    visitor.forget("session")
    redirected = visitor.open("/sign-in/with?provider=globex")
    assert visitor.open(fake_provider.callback_url(redirected.address, sub="4711")).heading == "Profile"


def test_failed_callback_shows_its_reason(
    tenant: World, visitor: Visitor, ada: Person, fake_provider: FakeProvider
) -> None:
    link_identity(tenant, tenant.person("grace@example.com"), subject="1815")
    pages = {
        "taken": visitor.open(fake_provider.callback_url(go_to_provider(visitor, ada).address, sub="1815")),
        "denied": visitor.open(f"{CALLBACK}?{urlencode(fake_provider.refuses(go_to_provider(visitor, ada).address))}"),
        "refused": visitor.open(fake_provider.callback_url(go_to_provider(visitor, ada).address, sub="")),
    }
    fake_provider.answers["/token"] = (503, {}, b"")
    pages["broken"] = visitor.open(fake_provider.callback_url(go_to_provider(visitor, ada).address))
    fake_provider.answers["/token"] = (401, {}, b'{"error": "invalid_client"}')
    pages["unusable"] = visitor.open(fake_provider.callback_url(go_to_provider(visitor, ada).address))
    assert {reason: page.query["problem"] for reason, page in pages.items()} == {reason: reason for reason in pages}
    assert len({page.text for page in pages.values()}) == len(pages)
    assert "connected to a different account" in pages["taken"].text
    assert linked_providers(tenant, ada) == []


def test_callback_links_only_in_the_session_that_began(
    tenant: World, visitor: Visitor, ada: Person, fake_provider: FakeProvider, new_visitor_at: NewVisitorAt
) -> None:
    """A callback of the attacker's interaction links nothing in the victim's browser (CSRF)."""
    eve = tenant.person("eve@example.com")
    callback_url = fake_provider.callback_url(go_to_provider(visitor, ada).address, sub="4711")
    other = new_visitor_at(tenant)
    signed_in(other, eve, "/identities")
    assert other.open(callback_url).status == 410
    visitor.forget("session")
    signed_in(visitor, eve, "/identities")
    assert visitor.open(callback_url).heading == "Connected accounts"
    assert (linked_providers(tenant, ada), linked_providers(tenant, eve)) == ([], [])


def test_csp_form_action_opens_on_the_link_page_only(tenant: World, visitor: Visitor, ada: Person) -> None:
    link_identity(tenant, ada)
    signed_in(visitor, ada, "/identities")
    targets = {}
    for path in ("/identities", "/identities/add?provider=initech", visitor.open("/identities").html):
        address = re.findall(r"/identities/remove\?id=[\w-]+", path)[0] if "<" in path else path
        answer = visitor.open(address).answer
        assert answer is not None
        targets[address.partition("?")[0]] = re.findall(
            "form-action ([^;]+)", answer.headers["Content-Security-Policy"]
        )
    assert targets.pop("/identities/add") == [f"'self' https: {urlsplit(visitor.home).scheme}:"]
    assert list(targets.values()) == [["'self'"], ["'self'"]]


def test_stale_session_must_reauthenticate_to_link(
    tenant: World, visitor: Visitor, ada: Person, fake_provider: FakeProvider
) -> None:
    signed_in(visitor, ada, "/identities")
    pass_time(tenant.services, minutes=10)
    page = visitor.open("/identities/add?provider=globex")
    before = visitor.session_cookie()
    wrong = page.press("Continue to Globex", password="wrong")
    assert (wrong.heading, "Wrong password." in wrong.text) == ("Connect Globex", True)
    assert wrong.press("Continue to Globex", password=ada.password).address.startswith(fake_provider.url)
    assert visitor.session_cookie() != before


def test_account_without_password_signs_in_again_to_link(
    tenant: World, visitor: Visitor, ada: Person, fake_provider: FakeProvider
) -> None:
    tenant.change_settings(passwordless_email=True)
    signed_in(visitor, ada, "/identities")
    pass_time(tenant.services, minutes=10)
    ada.set_columns(password_hash=None)
    page = visitor.open("/identities/add?provider=globex")
    assert page.heading == "Confirm it’s you"
    sent = page.follow("Get an email link").press("Email me a link")
    page = sent.press("Sign in", code=code_in(mails_to(tenant.services, tenant.tenant_id, ada.email)[-1]))
    assert page.heading == "Connect Globex"
    assert page.press("Continue to Globex").address.startswith(fake_provider.url)


def test_unlinking_needs_reauthentication(
    tenant: World, visitor: Visitor, ada: Person, new_visitor_at: NewVisitorAt
) -> None:
    link_identity(tenant, ada)
    page = signed_in(visitor, ada, "/security").follow("Connected accounts 1 account").follow("Disconnect")
    assert page.heading == "Disconnect Globex?"
    assert "countess@globex.example" in page.text
    pass_time(tenant.services, minutes=10)
    assert page.press("Disconnect").status == 401
    assert linked_providers(tenant, ada) == ["globex"]
    after = visitor.open(page.address).press("Disconnect", password=ada.password)
    assert (after.address.partition("?")[2], offered_providers(after)) == ("done=removed", ["globex", "initech"])
    assert linked_providers(tenant, ada) == []
    assert page.press("Disconnect").heading == "Connected accounts", "another tab"


def test_foreign_identity_cannot_be_unlinked(tenant: World, visitor: Visitor, ada: Person) -> None:
    grace = tenant.person("grace@example.com")
    link_identity(tenant, grace)
    link_identity(tenant, ada, "initech")
    foreign_id = signed_in(visitor, grace, "/identities").follow("Disconnect").query["id"]
    visitor.forget("session")
    page = signed_in(visitor, ada, "/identities").follow("Disconnect")
    assert page.press("Disconnect", identity=foreign_id).heading == "Connected accounts"
    assert visitor.open(f"/identities/remove?id={foreign_id}").heading == "Connected accounts"
    assert (linked_providers(tenant, grace), linked_providers(tenant, ada)) == (["globex"], ["initech"])


def test_last_sign_in_method_cannot_be_unlinked(tenant: World, visitor: Visitor, ada: Person) -> None:
    link_identity(tenant, ada)
    page = signed_in(visitor, ada, "/identities").follow("Disconnect")
    ada.set_columns(password_hash=None, email_verified=False)
    refused = page.press("Disconnect")
    assert (refused.status, "Set a password first" in refused.text) == (403, True)
    assert linked_providers(tenant, ada) == ["globex"]
    assert refused.follow("Set password").heading == "Set password"
    link_identity(tenant, ada, "initech")
    assert visitor.open(page.address).press("Disconnect").query == {"done": "removed"}


@pytest.mark.parametrize(
    ("settings", "shown", "button", "address"),
    [
        ({"username_login": True}, "Add a username first.", "Add username", "/username"),
        ({"phone_login": True}, "Add a phone number first.", "Add phone number", "/phone"),
    ],
    ids=["username alone", "phone alone"],
)
def test_page_shows_what_the_account_lacks(
    tenant: World, visitor: Visitor, ada: Person, settings: dict[str, Any], shown: str, button: str, address: str
) -> None:
    """A password alone would open nothing: the sign-in takes no email there."""
    link_identity(tenant, ada)
    page = signed_in(visitor, ada, "/identities")
    tenant.change_settings(email_login=None, **settings)
    page = page.follow("Disconnect")
    assert f"It’s your only way to sign in. {shown}" in page.text
    assert urlsplit(page.follow(button).address).path == address
    assert linked_providers(tenant, ada) == ["globex"]


def test_added_username_frees_the_identity(tenant: World, visitor: Visitor, ada: Person) -> None:
    link_identity(tenant, ada)
    page = signed_in(visitor, ada, "/identities")
    tenant.change_settings(email_login=None, username_login=True)
    page.follow("Disconnect").follow("Add username").press("Save", username="countess")
    assert visitor.open("/identities").follow("Disconnect").press("Disconnect").query == {"done": "removed"}
    assert linked_providers(tenant, ada) == []


def test_disabled_linking_is_neither_offered_nor_begun(
    tenant: World, visitor: Visitor, ada: Person, fake_provider: FakeProvider
) -> None:
    signed_in(visitor, ada, "/identities")
    page = visitor.open("/identities/add?provider=globex")
    tenant.change_settings(account_linking=False)
    assert page.press("Continue to Globex").heading == "Connected accounts"
    assert visitor.open("/identities/add?provider=globex").heading == "Connected accounts"
    assert "There’s nothing to connect right now." in visitor.open("/identities").text
    assert "Connected accounts" not in visitor.open("/security").text
    tenant.change_settings(
        account_linking=True,
        connections={"initech": fake_provider.openid(), "globex": fake_provider.openid(is_active=False)},
    )
    assert offered_providers(visitor.open("/identities")) == ["initech"]
    assert page.press("Continue to Globex").heading == "Connected accounts"


def test_tenant_without_connections_offers_none(tenant: World, visitor: Visitor, ada: Person) -> None:
    tenant.change_settings(connections={})
    assert "Connected accounts" not in signed_in(visitor, ada, "/security").text
    for path in ("/login", "/register"):
        assert "Continue with" not in visitor.open(path).text
    link_identity(tenant, ada)
    page = visitor.open("/security").follow("Connected accounts 1 account")
    assert "globex" in page.text, "it stays listed so that the owner can unlink it"


@pytest.mark.parametrize("path", ["/login", "/register"])
def test_provider_buttons_keep_the_attempt(tenant: World, visitor: Visitor, path: str) -> None:
    assert "/sign-in/with?provider=globex&" not in visitor.open(path).html
    attempt = visitor.authorize(tenant.application("shop")).query["attempt"]
    page = visitor.open(f"{path}?attempt={attempt}")
    links = re.findall(r'href="(/sign-in/with[^"]+)"', page.html)
    assert links == [f"/sign-in/with?provider={name}&amp;attempt={attempt}" for name in ("globex", "initech")]
    assert page.html.index("/sign-in/with") < page.html.index("<form")
