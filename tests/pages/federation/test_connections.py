"""Federated sign-in on the hosted pages: which account it opens, and that it reveals no other."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest

from tests.support.accounts.mailbox import code_in
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.federated_sign_in import ADA, START_URL, FederatedPageUser, link_identity, mails_sent_to
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt


@pytest.fixture
def new_federated_world(new_world: NewWorld, fake_provider: FakeProvider) -> NewWorld:
    def make(*, trusts: bool = True, **settings: Any) -> World:
        return new_world(connections={"globex": fake_provider.openid(title="Globex", trusts_email=trusts)}, **settings)

    return make


@pytest.fixture
def user(new_federated_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider) -> FederatedPageUser:
    tenant = new_federated_world()
    return FederatedPageUser(tenant, new_visitor_at(tenant), fake_provider)


def test_new_identity_registers_and_returns_to_same_account(user: FederatedPageUser) -> None:
    page = user.sign_in()
    assert page.profile_name == "Ada Lovelace", page.text
    assert link_notices(user) == []
    user.visitor.forget("session")
    assert user.sign_in(email="ada@another.test").profile_name == "Ada Lovelace"


def link_notices(user: FederatedPageUser) -> list[str]:
    """Return the subjects of the mails about a linked identity."""
    subjects = (str(mail["subject"]).partition(" your ")[0] for mail in mails_sent_to(user))
    return [subject for subject in subjects if "connected" in subject]


def test_trusted_provider_opens_account_once_linked(user: FederatedPageUser) -> None:
    ada = user.tenant.person(ADA["email"])
    assert user.sign_in().press("Sign in", password=ada.password).heading == "Profile"
    assert link_notices(user) == ["Globex was connected to"]
    user.visitor.forget("session")
    assert user.sign_in(email="ada@another.test", email_verified=False).heading == "Profile"


@pytest.mark.parametrize("name", ["code", "state", "iss", "error"])
def test_callback_with_a_repeated_parameter_is_refused(user: FederatedPageUser, name: str) -> None:
    redirected = user.visitor.open(START_URL)
    callback = user.fake_provider.callback_url(redirected.address, **ADA, sub="1")
    value = dict(parse_qsl(urlsplit(callback).query)).get(name, "access_denied")
    page = user.visitor.open(f"{callback}&{urlencode([(name, value)] * (2 if name == 'error' else 1))}")
    assert "needs=denied" in page.address
    assert not user.is_in


def test_unverified_provider_address_opens_no_account(user: FederatedPageUser) -> None:
    user.tenant.person(ADA["email"])
    page = user.sign_in(email_verified=False)
    assert page.heading == "Create your account"
    assert not user.is_in


@pytest.fixture
def untrusted(
    new_federated_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> FederatedPageUser:
    tenant = new_federated_world(trusts=False)
    return FederatedPageUser(tenant, new_visitor_at(tenant), fake_provider)


def test_untrusted_provider_reveals_no_registered_address(untrusted: FederatedPageUser) -> None:
    """The page and its answer to a registration are the same for a registered address."""
    free = untrusted.sign_in("2", email="free@example.test")
    after_free = free.press("Create account", email="free@example.test")
    untrusted.tenant.person(ADA["email"])
    untrusted.visitor.forget("attempt")
    taken = untrusted.sign_in("3")
    assert taken.comparable_text(ADA["email"]) == free.comparable_text("free@example.test")
    after_taken = taken.press("Create account", email=ADA["email"])
    assert after_taken.comparable_text(ADA["email"]) == after_free.comparable_text("free@example.test")
    assert not untrusted.is_in


def test_untrusted_new_identity_verifies_mail_sets_no_password(untrusted: FederatedPageUser) -> None:
    page = untrusted.sign_in()
    assert page.form("Create account").fields["email"] == ADA["email"]
    assert "password" not in page.form("Create account").fields
    page = page.press("Create account")
    assert page.heading == "Check your email"
    assert page.press("Verify", code=code_in(mails_sent_to(untrusted)[-1])).profile_name == "Ada Lovelace"
    assert link_notices(untrusted) == []
    untrusted.visitor.forget("session")
    assert untrusted.sign_in(email="other@example.test").profile_name == "Ada Lovelace"


def test_sign_in_links_the_untrusted_identity(untrusted: FederatedPageUser) -> None:
    ada = untrusted.tenant.person(ADA["email"])
    login = untrusted.sign_in().follow("Sign in to connect it")
    assert login.press("Sign in", identifier=ada.email, password=ada.password).heading == "Profile"
    untrusted.visitor.forget("session")
    assert untrusted.sign_in().heading == "Profile"


def test_identity_is_not_linked_to_other_addresses_account(untrusted: FederatedPageUser) -> None:
    """The identity may come from another person's browser: only the account with the same address may link it."""
    eve = untrusted.tenant.person("eve@example.test")
    login = untrusted.sign_in().follow("Sign in to connect it")
    assert login.press("Sign in", identifier=eve.email, password=eve.password).heading == "Profile"
    untrusted.visitor.forget("session")
    assert untrusted.sign_in().heading == "Create your account"


def test_login_hint_is_passed_to_the_provider(user: FederatedPageUser) -> None:
    shop = user.tenant.application("shop", client_name="Acme Shop")
    page = user.visitor.authorize(shop, login_hint=ADA["email"])
    assert parse_qs(urlsplit(page.follow("Continue with Globex").address).query)["login_hint"] == [ADA["email"]]
    assert "login_hint" not in user.visitor.open(START_URL).address


def test_denial_at_provider_shows_notice_on_login(user: FederatedPageUser) -> None:
    redirected = user.visitor.open(START_URL)
    page = user.visitor.open(user.denied(redirected))
    assert "Sign-in canceled" in page.text
    assert user.visitor.open(user.denied(redirected)).is_sign_in


def test_invalid_provider_answer_shows_notice(user: FederatedPageUser) -> None:
    redirected = user.visitor.open(START_URL)
    page = user.visitor.open(user.fake_provider.callback_url(redirected.address, sub=""))
    assert "Sign-in didn’t finish" in page.text


def test_callback_works_once(user: FederatedPageUser) -> None:
    redirected = user.visitor.open(START_URL)
    back = user.fake_provider.callback_url(redirected.address, **ADA)
    assert user.visitor.open(back).profile_name == "Ada Lovelace"
    user.visitor.forget("session")
    assert user.visitor.open(back).status == 410


def test_callback_in_another_browser_signs_no_account_in(user: FederatedPageUser, new_visitor_at: NewVisitorAt) -> None:
    """A callback from another browser signs no account in (login CSRF, RFC 6749 section 10.12)."""
    redirected = user.visitor.open(START_URL)
    back = user.fake_provider.callback_url(redirected.address, **ADA)
    other = new_visitor_at(user.tenant)
    assert other.open(back).status == 410
    assert not other.cookies("session")
    assert user.visitor.open(back).profile_name == "Ada Lovelace"


def test_unknown_identity_without_registration_is_refused(
    new_federated_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> None:
    tenant = new_federated_world(registration=False)
    assert "No account is connected" in FederatedPageUser(tenant, new_visitor_at(tenant), fake_provider).sign_in().text


def test_unknown_connection_answers_403(user: FederatedPageUser) -> None:
    page = user.visitor.open("/sign-in/with?provider=initech")
    assert (page.status, page.heading) == (403, "Sign-in method unavailable")


def test_second_factor_is_asked_after_federated_sign_in(
    new_federated_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> None:
    tenant = new_federated_world(two_factor="required", second_factors={"email": False, "passkey": False})
    link_identity(tenant, tenant.person(ADA["email"]), subject="1")
    user = FederatedPageUser(tenant, new_visitor_at(tenant), fake_provider)
    assert "app" in user.sign_in().text
    assert not user.is_in


def test_reauthentication_at_provider_needs_fresh_auth_time(user: FederatedPageUser) -> None:
    """A silent sign-in at the provider is no reauthentication."""
    tenant, visitor = user.tenant, user.visitor
    user.sign_in()
    pass_time(tenant.services, minutes=10)
    shop = tenant.application("shop", client_name="Acme Shop")
    page = visitor.authorize(shop, prompt="login")
    assert page.heading == "Confirm it’s you"
    redirected = page.follow("Continue with Globex")
    assert ("prompt=login" in redirected.address, "max_age=0" in redirected.address) == (True, True)
    page = visitor.open(user.fake_provider.callback_url(redirected.address, **ADA, sub="1"))
    assert "We couldn’t confirm it’s you" in page.text
    redirected = page.follow("Continue with Globex")
    now = int(tenant.services.clock.now().timestamp())
    page = visitor.open(user.fake_provider.callback_url(redirected.address, **ADA, sub="1", auth_time=now))
    assert "code" in page.query


def test_federated_sign_in_does_not_refresh_the_session(user: FederatedPageUser) -> None:
    user.sign_in()
    pass_time(user.tenant.services, minutes=10)
    assert user.sign_in().profile_name == "Ada Lovelace"
    assert user.visitor.open("/emails/add").heading == "Confirm it’s you"


def test_blocked_provider_address_is_refused_with_reason(
    new_federated_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> None:
    tenant = new_federated_world(email_access={"block": ["example.test"]})
    assert (
        "This email can’t be used here"
        in FederatedPageUser(tenant, new_visitor_at(tenant), fake_provider).sign_in().text
    )


def test_optional_verification_signs_new_identity_in(
    new_federated_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> None:
    tenant = new_federated_world(trusts=False, email_verification="optional")
    user = FederatedPageUser(tenant, new_visitor_at(tenant), fake_provider)
    assert user.sign_in().press("Create account").profile_name == "Ada Lovelace"
    user.visitor.forget("session")
    assert user.sign_in().profile_name == "Ada Lovelace"


def test_refused_registration_keeps_the_form(untrusted: FederatedPageUser) -> None:
    page = untrusted.sign_in().press("Create account", email="no address")
    assert (page.status, page.form("Create account").fields["email"]) == (400, "no address")
    assert "Check your details from Globex" in page.text
    assert page.press("Create account", email=ADA["email"]).heading == "Check your email"
