"""What a first sign-in through a provider links, and what it asks for first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from app.identity.directory.accounts import accounts, linked_identities
from tests.support.accounts.mailbox import code_in
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.account_security import signed_in
from tests.support.journeys.federated_sign_in import ADA, START_URL, FederatedPageUser, link_identity, mails_sent_to
from tests.support.oauth.world import NewWorld, World
from tests.support.races import at_once
from tests.support.tenants.callers import call_of
from tests.support.visitors.visitor import NewVisitorAt

NewUser = Callable[..., FederatedPageUser]
EMAIL = {"name": "email", "required": True}
LAST_NAME = {"name": "last_name", "required": True}


@pytest.fixture
def new_user(new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider) -> NewUser:
    def make(*, trusts: bool = True, **settings: object) -> FederatedPageUser:
        tenant = new_world(
            connections={"globex": fake_provider.openid(title="Globex", trusts_email=trusts)}, **settings
        )
        return FederatedPageUser(tenant, new_visitor_at(tenant), fake_provider)

    return make


def subjects_of(tenant: World, email: str = ADA["email"]) -> list[str]:
    """Return the subjects that are linked to the account with this address."""
    with call_of(tenant.services, tenant.name) as call:
        account = accounts.by_email(call, email)
        return [identity.subject for identity in linked_identities.of(account)] if account is not None else []


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "field",
    [LAST_NAME, {"name": "cf_team", "required": True}, {"name": "username", "required": True}],
    ids=lambda f: f["name"],
)
def test_required_field_is_asked_before_an_account_is_made(new_user: NewUser, field: dict[str, object]) -> None:
    user = new_user(registration_form=(EMAIL, field), custom_fields=["team"], username_login=True)
    page = user.sign_in(family_name=None)
    assert (page.heading, user.is_in, subjects_of(user.tenant)) == ("Create your account", False, [])


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
def test_field_that_the_provider_fills_is_not_asked(new_user: NewUser) -> None:
    user = new_user(registration_form=(EMAIL, LAST_NAME, {"name": "password", "type": "password", "required": True}))
    assert user.sign_in().profile_name == "Ada Lovelace"


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
def test_existing_account_is_not_asked_for_fields(new_user: NewUser) -> None:
    user = new_user(registration_form=(EMAIL, LAST_NAME))
    ada = user.tenant.person(ADA["email"])
    user.sign_in(family_name=None).press("Sign in", password=ada.password)
    assert subjects_of(user.tenant) == ["1"]


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
@pytest.mark.parametrize("trusts", [True, False], ids=["trusted", "untrusted"])
def test_new_account_is_asked_for_a_password(new_user: NewUser, trusts: bool) -> None:
    user = new_user(trusts=trusts, federated_password=True)
    page = user.sign_in()
    assert (page.heading, user.is_in, subjects_of(user.tenant)) == ("Create your account", False, [])
    assert "Choose a password." in page.press("Create account").text
    weak = page.press("Create account", password="abc")
    assert (weak.heading, subjects_of(user.tenant)) == ("Create your account", [])
    password = "Quartz-lantern-58"
    asked = page.press("Create account", password=password)
    asked.press("Verify", code=code_in(mails_sent_to(user)[-1]))
    assert subjects_of(user.tenant) == ["1"]
    user.visitor.forget("session")
    assert user.visitor.open("/login").press("Sign in", identifier=ADA["email"], password=password).heading == "Profile"
    user.visitor.forget("session")
    assert user.sign_in().heading == "Profile"


@pytest.mark.both_databases
def test_two_tabs_make_one_account(new_user: NewUser, new_visitor_at: NewVisitorAt) -> None:
    user = new_user()
    browsers = [user.visitor, *(new_visitor_at(user.tenant) for _ in range(3))]
    callbacks = [
        user.fake_provider.callback_url(browser.open(START_URL).address, **ADA, sub="1") for browser in browsers
    ]
    acts = [
        lambda browser=browser, url=url: browser.open(url) for browser, url in zip(browsers, callbacks, strict=True)
    ]
    pages = at_once(acts)
    outcomes = Counter("in" if page.heading == "Profile" else page.query.get("needs", page.heading) for page in pages)
    assert outcomes["in"] >= 1
    assert set(outcomes) <= {"in", "denied"}, "a loser is told to try again"
    assert subjects_of(user.tenant) == ["1"]
    assert browsers[0].open(START_URL) is not None
    assert user.sign_in().heading == "Profile"


@pytest.mark.both_databases
def test_two_identities_with_one_address_link_the_first(new_user: NewUser, new_visitor_at: NewVisitorAt) -> None:
    """The others find an account that did not exist when they came back, and must not open it."""
    user = new_user()
    browsers = [user.visitor, *(new_visitor_at(user.tenant) for _ in range(3))]
    callbacks = [
        user.fake_provider.callback_url(browser.open(START_URL).address, **ADA, sub=str(number))
        for number, browser in enumerate(browsers)
    ]
    acts = [
        lambda browser=browser, url=url: browser.open(url) for browser, url in zip(browsers, callbacks, strict=True)
    ]
    outcomes = Counter(page.query.get("needs", page.heading) for page in at_once(acts))
    assert (outcomes["Profile"], set(outcomes) - {"Profile", "denied", "connects"}) == (1, set())
    assert len(subjects_of(user.tenant)) == 1


@pytest.mark.both_databases
def test_concurrent_confirmations_link_once(new_user: NewUser, new_visitor_at: NewVisitorAt) -> None:
    user = new_user()
    ada, browsers = user.tenant.person(ADA["email"]), [user.visitor, new_visitor_at(user.tenant)]
    pages = [FederatedPageUser(user.tenant, browser, user.fake_provider).sign_in() for browser in browsers]
    acts = [lambda page=page: page.press("Sign in", password=ada.password) for page in pages * 2]
    assert {page.heading for page in at_once(acts)} <= {"Profile", "Start again"}
    assert subjects_of(user.tenant) == ["1"]


@pytest.mark.both_databases
def test_two_tabs_of_one_browser_make_one_account(new_user: NewUser) -> None:
    user = new_user()
    first, second = (
        user.fake_provider.callback_url(user.visitor.open(START_URL).address, **ADA, sub="1") for _ in range(2)
    )
    assert user.visitor.open(first).heading == "Profile"
    assert user.visitor.open(second).status == 200
    assert subjects_of(user.tenant) == ["1"]


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
def test_identity_of_another_account_never_moves(new_user: NewUser) -> None:
    """The provider names the address of Bob with the identity that Ada linked: it opens Ada's account, and Bob's gets nothing."""
    user = new_user()
    ada, bob = user.tenant.person(ADA["email"]), user.tenant.person("bob@example.test")
    link_identity(user.tenant, ada, "globex", "1")
    assert user.sign_in(email=bob.email).heading == "Profile"
    assert user.visitor.open("/emails").text.count(ADA["email"]) > 0
    assert (subjects_of(user.tenant), subjects_of(user.tenant, bob.email)) == (["1"], [])


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
def test_changed_address_at_the_provider_keeps_the_account(new_user: NewUser) -> None:
    user = new_user()
    assert user.sign_in().heading == "Profile"
    user.visitor.forget("session")
    user.tenant.person("new@example.test")
    assert user.sign_in(email="new@example.test").heading == "Profile"
    assert (subjects_of(user.tenant), subjects_of(user.tenant, "new@example.test")) == (["1"], [])


@pytest.mark.both_databases
def test_concurrent_links_of_two_accounts_have_one_winner(new_user: NewUser, new_visitor_at: NewVisitorAt) -> None:
    user = new_user()
    people = [user.tenant.person(f"{name}@example.test") for name in ("bob", "cyd")]
    browsers = [user.visitor, new_visitor_at(user.tenant)]
    callbacks = []
    for browser, person in zip(browsers, people, strict=True):
        redirected = signed_in(browser, person, "/identities/add?provider=globex").press("Continue to Globex")
        callbacks.append(user.fake_provider.callback_url(redirected.address, **ADA, sub="1"))
    acts = [
        lambda browser=browser, url=url: browser.open(url) for browser, url in zip(browsers, callbacks, strict=True)
    ]
    queries = sorted(str(page.query.get("done") or page.query.get("problem")) for page in at_once(acts))
    assert queries == ["linked", "taken"]
    assert sorted(len(subjects_of(user.tenant, person.email)) for person in people) == [0, 1]


SHARED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "by default": ({}, ["Your email", "Your name", "Your picture", "Other profile details"]),
    "the email alone": ({"scope": "openid email"}, ["Your email"]),
    "nothing": ({"scope": "openid"}, []),
    "fields of the mapping": (
        {"scope": "openid", "claims": {"subject": "id", "first_name": "given", "company": "org"}},
        ["Your name", "Other profile details"],
    ),
    "its tokens": (
        {"scope": "openid email", "keep_provider_tokens": True},
        ["Your email", "Updates to these later, until you disconnect"],
    ),
}


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("connection", "texts"), SHARED.values(), ids=SHARED)
def test_page_lists_what_the_provider_shares(new_user: NewUser, connection: dict[str, Any], texts: list[str]) -> None:
    user = new_user()
    user.tenant.change_settings(connections={"globex": user.fake_provider.openid(title="Globex", **connection)})
    page = signed_in(user.visitor, user.tenant.person("ada@example.com"), "/identities/add?provider=globex")
    shown = re.search(r'<ul aria-labelledby="shared">(.*?)</ul>', page.html, re.DOTALL)
    assert re.findall("<li>(.*?)</li>", shown[1] if shown else "") == texts
