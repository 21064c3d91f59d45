"""The owner of an account signs in before a trusted provider's identity with its address is linked (decision 0429)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from app.identity.directory.accounts import account_store, accounts, linked_identities
from tests.support.accounts.mailbox import code_in, link_in
from tests.support.credentials.software_authenticator import Authenticator
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.account_security import add_app, signed_in
from tests.support.journeys.federated_sign_in import ADA, FederatedPageUser, link_identity, mails_sent_to
from tests.support.journeys.passkeys import add_passkey
from tests.support.journeys.passwordless import ALL_METHODS, E164
from tests.support.journeys.second_factors import code_now
from tests.support.journeys.verification import wait
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.tenants.callers import call_of
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # test_linking has the races on both
EXISTS, OTHER, NEW = "You already have an account", "Not you? Use another account", "Quartz-lantern-58"
CALLBACK = "https://shop.example/back"
NewUser = Callable[..., FederatedPageUser]


@pytest.fixture
def new_user(new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider) -> NewUser:
    def make(*, trusts: bool = True, **settings: Any) -> FederatedPageUser:
        connections = {
            "globex": fake_provider.openid(title="Globex", trusts_email=trusts),
            "initech": fake_provider.openid(title="Initech"),
        }
        tenant = new_world(connections=connections, **settings)
        return FederatedPageUser(tenant, new_visitor_at(tenant), fake_provider)

    return make


def linked(tenant: World, email: str = ADA["email"]) -> list[tuple[str, str]]:
    """Return the identities that are linked to the account with this address."""
    with call_of(tenant.services, tenant.name) as call:
        account = accounts.by_email(call, email)
        return [identity.key for identity in linked_identities.of(account)] if account is not None else []


def opens_directly(user: FederatedPageUser) -> bool:
    """Return whether the next sign-in at the provider needs no confirmation."""
    user.visitor.forget("session")
    return user.sign_in().heading == "Profile"


def test_password_confirms_the_account_once(new_user: NewUser) -> None:
    user = new_user()
    ada = user.tenant.person(ADA["email"])
    page = user.sign_in()
    assert (page.heading, linked(user.tenant), user.is_in) == (EXISTS, [], False)
    assert "Sign in to connect Globex" in page.text
    wrong = page.press("Sign in", password="Wrong-lantern-58")
    assert (wrong.heading, linked(user.tenant)) == (EXISTS, [])
    assert wrong.press("Sign in", password=ada.password).heading == "Profile"
    assert linked(user.tenant) == [("globex", "1")]
    assert opens_directly(user)


def test_confirmation_returns_to_the_application(new_user: NewUser) -> None:
    user = new_user()
    ada = user.tenant.person(ADA["email"])
    start = user.visitor.authorize(user.tenant.application("shop", client_name="Acme Shop"))
    redirected = start.follow("Continue with Globex")
    page = user.visitor.open(user.fake_provider.callback_url(redirected.address, **ADA, sub="1"))
    assert "code" in page.press("Sign in", password=ada.password).query
    assert linked(user.tenant) == [("globex", "1")]


def by_code(user: FederatedPageUser, page: VisitedPage) -> VisitedPage:
    form = page.follow("Get an email link")
    assert form.form("Email me a link").fields["identifier"] == ADA["email"]
    return form.press("Email me a link").press("Sign in", code=code_in(mails_sent_to(user)[-1]))


def by_link(user: FederatedPageUser, page: VisitedPage) -> VisitedPage:
    page.follow("Get an email link").press("Email me a link")
    return user.visitor.open(link_in(mails_sent_to(user)[-1])).press("Sign in")


def by_reset(user: FederatedPageUser, page: VisitedPage) -> VisitedPage:
    page.follow("Set password").press("Send reset link")
    chosen = user.visitor.open(link_in(mails_sent_to(user)[-1])).press("Save password", password=NEW)
    return chosen if chosen.heading == "Profile" else chosen.press("Sign in", password=NEW)


@pytest.mark.parametrize(
    ("methods", "confirm"),
    [(ALL_METHODS, by_code), (ALL_METHODS, by_link), ({}, by_reset)],
    ids=["code", "link", "reset"],
)
def test_account_of_the_mailbox_alone_is_confirmed_by_mail(
    new_user: NewUser, methods: dict[str, Any], confirm: Callable[[FederatedPageUser, VisitedPage], VisitedPage]
) -> None:
    user = new_user(**methods)
    user.tenant.person(ADA["email"]).set_columns(password_hash=None)
    page = user.sign_in()
    assert "password" not in page.form(OTHER).fields
    assert confirm(user, page).heading == "Profile"
    assert linked(user.tenant) == [("globex", "1")]


def test_passkey_confirms_the_account(new_user: NewUser, new_visitor_at: NewVisitorAt) -> None:
    user = new_user(passkeys=True)
    ada, owner = user.tenant.person(ADA["email"]), new_visitor_at(user.tenant)
    device = Authenticator(owner.home)
    signed_in(owner, ada, "/passkeys/add")
    add_passkey(owner, device)
    page = user.sign_in()
    fields = dict(page.form("Use a passkey").fields)
    options = json.loads(user.visitor.send("POST", f"{user.visitor.home}/login/passkey/options", fields).html)
    assertion = device.shows(options, device.passkeys[0])
    assert page.press("Use a passkey", credential=json.dumps(assertion)).heading == "Profile"
    assert linked(user.tenant) == [("globex", "1")]


def test_connected_provider_confirms_the_account(new_user: NewUser) -> None:
    user = new_user()
    ada = user.tenant.person(ADA["email"])
    link_identity(user.tenant, ada, "initech", "7")
    ada.set_columns(password_hash=None)
    redirected = user.sign_in().follow("Continue with Initech")
    confirmed = user.visitor.open(user.fake_provider.callback_url(redirected.address, sub="7"))
    assert confirmed.heading == "Profile"
    assert linked(user.tenant) == [("initech", "7"), ("globex", "1")]


def test_second_factor_comes_before_the_link(new_user: NewUser, new_visitor_at: NewVisitorAt) -> None:
    user = new_user(two_factor="optional", second_factors={"email": False, "passkey": False})
    ada = user.tenant.person(ADA["email"])
    app, _ = add_app(new_visitor_at(user.tenant), user.tenant, ada)
    wait(user.tenant, seconds=31)
    asked = user.sign_in().press("Sign in", password=ada.password)
    assert (asked.heading, linked(user.tenant)) == ("Two-step verification", [])
    assert asked.press("Verify", code=code_now(user.tenant, app)).heading == "Profile"
    assert linked(user.tenant) == [("globex", "1")]


def add_names(tenant: World, person: Person) -> None:
    """Give an account a username and a verified number."""
    with call_of(tenant.services, tenant.name) as call:
        account_store.add_identifiers(call, person.uid, [("phone", E164, True), ("username", "countess", True)])
        call.work.commit()
    person.set_columns(phone=E164, phone_verified=True, username="countess")


def test_page_names_nothing_but_the_address(new_user: NewUser) -> None:
    """Who confirmed the mailbox at the provider is not yet the account's owner."""
    user = new_user(**ALL_METHODS, email_login=True, username_login=True, phone_login=True)
    ada = user.tenant.person(ADA["email"], FirstName="Augusta")
    add_names(user.tenant, ada)
    page = user.sign_in()
    assert page.heading == EXISTS
    texting = page.follow("Get a code by text message")
    for shown in (page, texting):
        assert not [name for name in ("countess", "Augusta", "9460123", "7946 0123") if name in shown.html]


def test_untrusted_provider_shows_no_account(new_user: NewUser) -> None:
    user = new_user(trusts=False)
    free = user.sign_in("2", email="free@example.test")
    user.tenant.person(ADA["email"])
    user.visitor.forget("attempt")
    taken = user.sign_in("3")
    assert taken.comparable_text(ADA["email"]) == free.comparable_text("free@example.test")


def test_another_account_gets_no_identity(new_user: NewUser) -> None:
    user = new_user()
    user.tenant.person(ADA["email"])
    eve = user.tenant.person("eve@example.test")
    page = user.sign_in()
    assert page.press("Sign in", identifier=eve.email, password=eve.password).heading == "Profile"
    assert (linked(user.tenant), linked(user.tenant, eve.email)) == ([], [])
    assert user.visitor.open(page.address).heading == "Profile", "the confirmation is over"


def test_person_who_cannot_confirm_it_goes_back(new_user: NewUser) -> None:
    user = new_user()
    ada = user.tenant.person(ADA["email"])
    page = user.sign_in().press(OTHER)
    assert (page.is_sign_in, EXISTS in page.text, "Create account" in page.text) == (True, False, True)
    assert page.press("Sign in", identifier=ada.email, password=ada.password).heading == "Profile"
    assert linked(user.tenant) == []


def test_person_signed_in_otherwise_confirms_it_too(new_user: NewUser) -> None:
    user = new_user()
    ada, eve = user.tenant.person(ADA["email"]), user.tenant.person("eve@example.test")
    signed_in(user.visitor, eve, "/profile")
    page = user.sign_in()
    assert (page.heading, linked(user.tenant)) == (EXISTS, [])
    page.press("Sign in", password=ada.password)
    assert (linked(user.tenant), linked(user.tenant, eve.email)) == ([("globex", "1")], [])


def test_back_and_reload_keep_the_page(new_user: NewUser) -> None:
    user = new_user()
    ada = user.tenant.person(ADA["email"])
    page = user.sign_in()
    again = user.visitor.open(page.address.replace("&needs=connects", ""))
    assert (again.heading, user.visitor.open(page.address).heading) == (EXISTS, EXISTS)
    again.press("Sign in", password=ada.password)
    assert linked(user.tenant) == [("globex", "1")]


def test_confirmation_after_an_hour_links_nothing(new_user: NewUser) -> None:
    user = new_user()
    ada = user.tenant.person(ADA["email"])
    page = user.sign_in()
    pass_time(user.tenant.services, minutes=61)
    page.press("Sign in", password=ada.password)
    assert (user.is_in, linked(user.tenant)) == (True, [])


@pytest.mark.parametrize("change", [{"account_linking": False}, {"connections": {}}], ids=["linking off", "removed"])
def test_change_of_settings_meanwhile_links_nothing(new_user: NewUser, change: dict[str, Any]) -> None:
    user = new_user()
    ada = user.tenant.person(ADA["email"])
    page = user.sign_in()
    user.tenant.change_settings(**change)
    page.press("Sign in", password=ada.password)
    assert (user.is_in, linked(user.tenant)) == (True, [])


def test_address_removed_meanwhile_links_nothing(new_user: NewUser) -> None:
    user = new_user()
    ada = user.tenant.person(ADA["email"])
    page = user.sign_in()
    new = "new@example.test"
    ada.set_columns(email=new, emails=[{"Type": "Primary", "Value": new, "verified": True}])
    page.press("Sign in", password=ada.password)
    assert (user.is_in, linked(user.tenant)) == (True, [])


def test_identity_linked_elsewhere_meanwhile_stays_there(new_user: NewUser) -> None:
    user = new_user()
    ada, eve = user.tenant.person(ADA["email"]), user.tenant.person("eve@example.test")
    page = user.sign_in()
    link_identity(user.tenant, eve, "globex", "1")
    assert page.press("Sign in", password=ada.password).heading == "Profile"
    assert (linked(user.tenant), linked(user.tenant, eve.email)) == ([], [("globex", "1")])


def test_linking_off_shows_how_to_sign_in(new_user: NewUser) -> None:
    user = new_user(account_linking=False)
    ada = user.tenant.person(ADA["email"])
    page = user.sign_in()
    assert EXISTS in page.text
    assert page.press("Sign in", identifier=ada.email, password=ada.password).heading == "Profile"
    assert linked(user.tenant) == []
    assert not opens_directly(user)


def test_program_gets_its_token_after_the_confirmation(new_user: NewUser) -> None:
    user = new_user(url_whitelist=[CALLBACK])
    ada = user.tenant.person(ADA["email"])
    start = {"provider": "globex", "callback": CALLBACK, "callbacktype": "QueryString"}
    page = user.sign_in(start=f"/RequestHandler.aspx?{urlencode(start)}")
    assert page.heading == EXISTS
    back = page.press("Sign in", password=ada.password)
    assert (back.address.startswith(CALLBACK), "token" in back.query) == (True, True)


def test_tenant_without_sign_in_by_email_asks_for_the_name(new_user: NewUser) -> None:
    user = new_user(email_login=False, username_login=True)
    ada = user.tenant.person(ADA["email"])
    add_names(user.tenant, ada)
    page = user.sign_in()
    assert "Sign in to connect your accounts" in page.text
    page.press("Sign in", identifier="countess", password=ada.password)
    assert linked(user.tenant) == [("globex", "1")]
