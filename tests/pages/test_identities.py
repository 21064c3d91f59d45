"""Connected accounts: people see which identities of other providers open their account, add one, and take one away."""

from __future__ import annotations

import re
from urllib.parse import urlencode, urlsplit

import pytest

from app.hub.visit import RETURN_FROM_PROVIDER
from app.identity.directory.accounts import linked_identities
from app.identity.directory.accounts import service as accounts
from app.identity.directory.identity_provider import Claimed
from tests.pages.test_own_factors import signed_in
from tests.support.callers import call_of
from tests.support.mailbox import code_in, mails_to
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Person
from tests.support.upstream import FakeProvider
from tests.support.visitor import NewVisitorAt, Seen, Visitor

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # the store is asked in tests/api


@pytest.fixture
def there(new_world: NewWorld, elsewhere: FakeProvider) -> World:
    return new_world(connections={name: elsewhere.openid(title=name.title()) for name in ("globex", "initech")})


@pytest.fixture
def visitor(there: World, new_visitor_at: NewVisitorAt) -> Visitor:
    someone: Visitor = new_visitor_at(there)
    return someone


@pytest.fixture
def ada(there: World) -> Person:
    return there.person("ada@example.com")


def has(there: World, person: Person, provider: str = "globex", subject: str = "4711") -> None:
    """Let an identity be linked, as the answer of its provider would."""
    with call_of(there.services, there.name) as call:
        account = accounts.by_uid(call, person.uid)
        assert account is not None
        linked_identities.link(
            call, account, Claimed(provider, subject, "countess@globex.example", email_verified=True)
        )
        call.work.commit()


def held(there: World, person: Person) -> list[str]:
    with call_of(there.services, there.name) as call:
        account = accounts.by_uid(call, person.uid)
        assert account is not None
        return [one.provider for one in linked_identities.of(account)]


def open_to(page: Seen) -> list[str]:
    """The providers that a page leads to."""
    return re.findall(r'href="/identities/add\?provider=(\w+)"', page.html)


def leaves(visitor: Visitor, ada: Person) -> Seen:
    """Go to the provider, as the page says."""
    return signed_in(visitor, ada, "/identities/add?provider=globex").press("Go to Globex")


def test_one_is_connected_and_opens_the_account(
    there: World, visitor: Visitor, ada: Person, elsewhere: FakeProvider
) -> None:
    page = signed_in(visitor, ada, "/security").follow("Connected accounts None yet")
    assert (page.heading, open_to(page)) == ("Connected accounts", ["globex", "initech"])
    asked = page.follow("Globex You sign in there once, and come back")
    assert asked.heading == "Connect Globex"
    led = asked.press("Go to Globex")
    assert held(there, ada) == [], "nothing is linked before the answer"
    after = visitor.open(elsewhere.way_back(led.address, sub="4711", email="countess@globex.example"))
    assert (after.heading, after.query) == ("Connected accounts", {"done": "linked"})
    assert "countess@globex.example" in after.text
    assert (held(there, ada), open_to(after)) == (["globex"], ["initech"])
    visitor.forget("session")
    led = visitor.open("/sign-in/with?provider=globex")
    assert visitor.open(elsewhere.way_back(led.address, sub="4711")).heading == ada.email


def test_what_comes_back_without_one_is_said(
    there: World, visitor: Visitor, ada: Person, elsewhere: FakeProvider
) -> None:
    has(there, there.person("grace@example.com"), subject="1815")
    said = {
        "taken": visitor.open(elsewhere.way_back(leaves(visitor, ada).address, sub="1815")),
        "denied": visitor.open(f"{RETURN_FROM_PROVIDER}?{urlencode(elsewhere.refuses(leaves(visitor, ada).address))}"),
        "broken": visitor.open(elsewhere.way_back(leaves(visitor, ada).address, sub="")),
    }
    assert {word: page.query for word, page in said.items()} == {word: {"problem": word} for word in said}
    assert len({page.text for page in said.values()}) == len(said)
    assert "It opens another account here." in said["taken"].text
    assert held(there, ada) == []


def test_only_the_browser_and_the_session_that_asked_are_connected(
    there: World, visitor: Visitor, ada: Person, elsewhere: FakeProvider, new_visitor_at: NewVisitorAt
) -> None:
    """An attacker's answer, brought to the browser of somebody who is signed in, links nothing there."""
    eve = there.person("eve@example.com")
    back = elsewhere.way_back(leaves(visitor, ada).address, sub="4711")
    other = new_visitor_at(there)
    signed_in(other, eve, "/identities")
    assert other.open(back).status == 410
    visitor.forget("session")
    signed_in(visitor, eve, "/identities")
    assert visitor.open(back).heading == "Connected accounts"
    assert (held(there, ada), held(there, eve)) == ([], [])


def test_only_the_page_that_leads_to_a_provider_lets_its_form_go_elsewhere(
    there: World, visitor: Visitor, ada: Person
) -> None:
    has(there, ada)
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


def test_whoever_signed_in_a_while_ago_proves_it_first(
    there: World, visitor: Visitor, ada: Person, elsewhere: FakeProvider
) -> None:
    signed_in(visitor, ada, "/identities")
    there.services.clock.advance(minutes=10)
    page = visitor.open("/identities/add?provider=globex")
    before = visitor.session_cookie()
    wrong = page.press("Go to Globex", password="wrong")
    assert (wrong.heading, "That is not your password." in wrong.text) == ("Connect Globex", True)
    assert wrong.press("Go to Globex", password=ada.password).address.startswith(elsewhere.url)
    assert visitor.session_cookie() != before


def test_without_a_password_a_new_sign_in_leads_back(
    there: World, visitor: Visitor, ada: Person, elsewhere: FakeProvider
) -> None:
    there.restate(passwordless_email=True)
    signed_in(visitor, ada, "/identities")
    there.services.clock.advance(minutes=10)
    ada.lives(password_hash=None)
    page = visitor.open("/identities/add?provider=globex")
    assert page.heading == "Is it still you?"
    sent = page.follow("Email me a link No password needed").press("Email me a link")
    page = sent.press("Sign in", code=code_in(mails_to(there.services, there.tenant_id, ada.email)[-1]))
    assert page.heading == "Connect Globex"
    assert page.press("Go to Globex").address.startswith(elsewhere.url)


def test_one_is_taken_away(there: World, visitor: Visitor, ada: Person, new_visitor_at: NewVisitorAt) -> None:
    has(there, ada)
    page = signed_in(visitor, ada, "/security").follow("Connected accounts 1 account").follow("Disconnect")
    assert page.heading == "Disconnect Globex?"
    assert "countess@globex.example" in page.text
    there.services.clock.advance(minutes=10)
    assert page.press("Yes, disconnect it").status == 401
    assert held(there, ada) == ["globex"]
    after = visitor.open(page.address).press("Yes, disconnect it", password=ada.password)
    assert (after.address.partition("?")[2], open_to(after)) == ("done=removed", ["globex", "initech"])
    assert held(there, ada) == []
    assert page.press("Yes, disconnect it").heading == "Connected accounts", "another tab"


def test_nobody_takes_away_what_is_another_accounts(there: World, visitor: Visitor, ada: Person) -> None:
    grace = there.person("grace@example.com")
    has(there, grace)
    has(there, ada, "initech")
    theirs = signed_in(visitor, grace, "/identities").follow("Disconnect").query["id"]
    visitor.forget("session")
    page = signed_in(visitor, ada, "/identities").follow("Disconnect")
    assert page.press("Yes, disconnect it", identity=theirs).heading == "Connected accounts"
    assert visitor.open(f"/identities/remove?id={theirs}").heading == "Connected accounts"
    assert (held(there, grace), held(there, ada)) == (["globex"], ["initech"])


def test_the_last_way_into_an_account_stays(there: World, visitor: Visitor, ada: Person) -> None:
    has(there, ada)
    page = signed_in(visitor, ada, "/identities").follow("Disconnect")
    ada.lives(password_hash=None, email_verified=False)
    refused = page.press("Yes, disconnect it")
    assert (refused.status, "Set a password first" in refused.text) == (403, True)
    assert held(there, ada) == ["globex"]
    assert refused.follow("Set a password").heading == "Set a password"
    has(there, ada, "initech")
    assert visitor.open(page.address).press("Yes, disconnect it").query == {"done": "removed"}


def test_what_is_off_is_not_offered_and_does_not_begin(
    there: World, visitor: Visitor, ada: Person, elsewhere: FakeProvider
) -> None:
    signed_in(visitor, ada, "/identities")
    page = visitor.open("/identities/add?provider=globex")
    there.restate(account_linking=False)
    assert page.press("Go to Globex").heading == "Connected accounts"
    assert visitor.open("/identities/add?provider=globex").heading == "Connected accounts"
    assert "None can be connected here now." in visitor.open("/identities").text
    assert "Connected accounts" not in visitor.open("/security").text
    there.restate(
        account_linking=True, connections={"initech": elsewhere.openid(), "globex": elsewhere.openid(is_active=False)}
    )
    assert open_to(visitor.open("/identities")) == ["initech"]
    assert page.press("Go to Globex").heading == "Connected accounts"


def test_a_tenant_without_connections_does_not_speak_of_them(there: World, visitor: Visitor, ada: Person) -> None:
    there.restate(connections={})
    assert "Connected accounts" not in signed_in(visitor, ada, "/security").text
    for path in ("/login", "/register"):
        assert "Continue with" not in visitor.open(path).text
    has(there, ada)
    page = visitor.open("/security").follow("Connected accounts 1 account")
    assert "globex" in page.text, "it is still there, and goes when its owner wants"


@pytest.mark.parametrize("path", ["/login", "/register"])
def test_providers_stand_first_and_keep_the_attempt(there: World, visitor: Visitor, path: str) -> None:
    assert "/sign-in/with?provider=globex&" not in visitor.open(path).html
    attempt = visitor.asked_by(there.application("shop")).query["attempt"]
    page = visitor.open(f"{path}?attempt={attempt}")
    links = re.findall(r'href="(/sign-in/with[^"]+)"', page.html)
    assert links == [f"/sign-in/with?provider={name}&amp;attempt={attempt}" for name in ("globex", "initech")]
    assert page.html.index("/sign-in/with") < page.html.index("<form")
