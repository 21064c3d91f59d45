"""Registration with a passkey instead of a password."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest

from app.identity.assembly.clean_up.expired_rows import clean
from app.identity.credentials.credential_store import credentials
from app.identity.directory.accounts.tables import accounts, waiting_accounts
from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.credentials.software_authenticator import Authenticator
from tests.support.journeys.passkeys import sign_in_by_passkey, sign_out
from tests.support.journeys.pre_registration import ATTACKERS, FORM, MINE, UNLIMITED, rows, sign_up, signed_in
from tests.support.journeys.pre_registration import EMAIL as OWNERS
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.captchas import WRONG_WORK, solving
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

BUTTON = "Continue with a passkey"
ONE_DATABASE = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
EMAIL, WRONG = "ada@example.test", "ada@exmaple.test"


@pytest.fixture
def new_passkey_world(new_world: NewWorld) -> NewWorld:
    def make(**settings: Any) -> World:
        identifiers = {"email_login": True, "username_login": True, "registration_form": FORM}
        return new_world(**{"passkeys": True, "limits": UNLIMITED, **identifiers, **settings})

    return make


@pytest.fixture
def tenant(new_passkey_world: NewWorld) -> World:
    return new_passkey_world()


class NewUser:
    """A browser and an authenticator without an account."""

    def __init__(self, tenant: World, visitor: Visitor, **device: Any) -> None:
        self.tenant, self.visitor, self.device = tenant, visitor, Authenticator(visitor.home, **device)

    def fetch_options(self, page: VisitedPage, **typed: str) -> VisitedPage:
        """Fetch the WebAuthn options as the page's script does."""
        return self.visitor.send(
            "POST", f"{self.visitor.home}/register/passkey/options", {**page.form(BUTTON).fields, **typed}
        )

    def register(self, email: str = EMAIL, page: VisitedPage | None = None, **typed: str) -> VisitedPage:
        page = page or self.visitor.open("/register")
        options_answer = self.fetch_options(page, email=email, **typed)
        assert options_answer.status == 200, options_answer.html
        attestation = self.device.makes(json.loads(options_answer.html))
        return page.press(BUTTON, email=email, credential=json.dumps(attestation), **typed)

    def sign_in(self) -> VisitedPage:
        """Sign in at a shop with the passkey, without a session."""
        sign_out(self.visitor)
        return sign_in_by_passkey(self.visitor, self.tenant, self.device)

    def link(self, email: str = EMAIL) -> str:
        return link_in(mails_to(self.tenant.services, self.tenant.tenant_id, email)[-1])


@pytest.fixture
def new_person(tenant: World, new_visitor_at: NewVisitorAt) -> Any:
    return lambda: NewUser(tenant, new_visitor_at(tenant))


def test_account_without_password_signs_in_by_passkey(tenant: World, new_person: Any) -> None:
    ada: NewUser = new_person()
    shop = tenant.application(f"shop{secrets.token_hex(3)}", client_name="Acme Shop")
    page = ada.visitor.authorize(shop).follow("Create account")
    waiting = ada.register(page=page, first_name="Ada", password="x", username="ada")
    assert (waiting.heading, EMAIL in waiting.text) == ("Check your email", True)
    assert ada.visitor.open(ada.link()).press("Verify").query["code"], "the registering browser continues"
    (account,) = rows(tenant, accounts)
    assert (account.password_hash, account.profile["FirstName"], account.username) == (None, "Ada", "ada")
    assert ada.sign_in().query["code"]
    assert "Not set" in ada.visitor.open("/security").text


@ONE_DATABASE
def test_pending_passkey_is_refused_until_verified(new_person: Any) -> None:
    ada, other = new_person(), new_person()
    ada.register()
    refused = ada.sign_in()
    assert (refused.status, "That passkey didn’t work" in refused.text) == (403, True)
    assert "data-unknown" not in refused.html, "the password manager must keep the passkey"
    done = other.visitor.open(ada.link()).press("Verify")
    assert (done.heading, other.visitor.cookies("session")) == ("Email verified", [])
    assert ada.sign_in().query["code"]


@pytest.mark.both_databases
def test_verification_by_owner_removes_foreign_passkey(tenant: World, new_person: Any) -> None:
    attacker, owner = new_person(), new_person()
    attacker.register(OWNERS, first_name="Eve")
    sign_up(owner.visitor, MINE)
    owner.visitor.open(attacker.link(OWNERS)).press("Verify")
    (account,) = rows(tenant, accounts)
    assert (account.email_verified, "FirstName" in account.profile) == (True, False)
    refused = attacker.sign_in()
    assert (refused.status, "data-unknown" in refused.html) == (403, False), "the deletion is not revealed"
    assert rows(tenant, credentials) == []
    sign_out(owner.visitor)
    assert signed_in(owner.visitor, MINE)


def test_passkey_browser_identifies_its_registration(tenant: World, new_person: Any) -> None:
    attacker, owner, other = new_person(), new_person(), new_person()
    sign_up(attacker.visitor, ATTACKERS)
    owner.register(OWNERS)
    third = new_person()
    third.register(OWNERS)
    owner_link = [link_in(mail) for mail in mails_to(tenant.services, tenant.tenant_id, OWNERS)][1]
    page = other.visitor.open(owner_link).press("Verify")
    assert "in the browser you used" in page.text
    assert page.press("Verify", password=ATTACKERS).status == 401
    assert owner.visitor.open(owner_link).press("Verify").address.endswith("/profile")
    assert not signed_in(other.visitor, ATTACKERS)
    assert [third.sign_in().status, owner.sign_in().query.get("code") is not None] == [403, True]
    assert len(rows(tenant, credentials)) == 1, "the other pending passkey is deleted"


@pytest.mark.parametrize("is_taken", [False, True])
def test_corrected_address_keeps_the_passkey(tenant: World, new_person: Any, is_taken: bool) -> None:
    if is_taken:
        tenant.person(WRONG)
    ada: NewUser = new_person()
    waiting = ada.register(WRONG)
    page = waiting.follow("Change").press("Save and resend", to=EMAIL)
    assert (page.heading, EMAIL in page.text) == ("Check your email", True)
    assert ada.visitor.open(ada.link()).press("Verify").address.endswith("/profile")
    assert ada.sign_in().query["code"]


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_unverified_registration_is_cleaned_up(tenant: World, new_person: Any) -> None:
    tenant.person(EMAIL)
    new_person().register()
    assert [len(rows(tenant, table)) for table in (waiting_accounts, credentials)] == [1, 1]
    pass_time(tenant.services, days=11)
    clean(tenant.services.database, tenant.services.clock.now())
    assert [len(rows(tenant, table)) for table in (waiting_accounts, credentials)] == [0, 0]


@ONE_DATABASE
def test_refused_fields_are_shown_before_the_ceremony(new_person: Any) -> None:
    sign_up(new_person().visitor, ATTACKERS, username="grace")
    ada: NewUser = new_person()
    page = ada.visitor.open("/register")
    for typed, sentence in (
        ({"email": ""}, "Enter your email."),
        ({"email": "no address"}, "Enter a valid email address."),
        ({"email": EMAIL, "username": "Grace"}, "Already in use. Choose another one."),
    ):
        assert (ada.fetch_options(page, **typed).status >= 400, ada.fetch_options(page, **typed).html) == (True, "{}")
        refused = page.press(BUTTON, **typed)
        assert (refused.status >= 400, sentence in refused.text, "Choose a password." in refused.text) == (
            True, True, False,
        )  # fmt: skip
    plain = page.press(BUTTON, email=EMAIL)
    assert (plain.status, "Passkeys need JavaScript" in plain.text) == (422, True)
    attestation = plain.press("Create account", email=EMAIL, password=MINE)
    assert attestation.heading == "Check your email", "a password works without JavaScript"


@ONE_DATABASE
def test_mismatched_or_foreign_attestation_is_refused(tenant: World, new_person: Any) -> None:
    ada: NewUser = new_person()
    page = ada.visitor.open("/register")
    options = json.loads(ada.fetch_options(page, email=EMAIL).html)
    for email, attestation in (
        (WRONG, ada.device.makes(options)),
        (EMAIL, ada.device.makes(options, origin="https://evil.example")),
    ):
        refused = page.press(BUTTON, email=email, credential=json.dumps(attestation))
        assert (refused.status, "That passkey didn’t work" in refused.text) == (403, True)
    assert rows(tenant, accounts) == rows(tenant, credentials) == []


@ONE_DATABASE
@pytest.mark.parametrize(("verifies", "status"), [(True, 200), (False, 403)])
def test_optional_verification_signs_in_at_once(
    new_passkey_world: NewWorld, new_visitor_at: NewVisitorAt, verifies: bool, status: int
) -> None:
    tenant = new_passkey_world(email_verification="optional", two_factor="required")
    ada = NewUser(tenant, new_visitor_at(tenant), verifies=verifies)
    page = ada.register()
    assert (page.status, page.address.endswith("/profile")) == (status, verifies), (
        "user verification counts as the second factor"
    )


@ONE_DATABASE
def test_captcha_is_asked_once(new_passkey_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_passkey_world(registration_captcha=True)
    ada = NewUser(tenant, new_visitor_at(tenant))
    page = ada.visitor.open("/register")
    assert ada.fetch_options(page, email=EMAIL, **WRONG_WORK).status >= 400
    wrong = page.press(BUTTON, email=EMAIL, **WRONG_WORK)
    assert ada.register(page=wrong, **solving(wrong, BUTTON)).heading == "Check your email"


@ONE_DATABASE
def test_passkey_is_offered_only_if_it_can_sign_in(new_passkey_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    for settings in ({"passkeys": False}, {"registration_form": [{"name": "username"}, FORM[-1]]}):
        visitor = new_visitor_at(new_passkey_world(**settings))
        page = visitor.open("/register")
        assert (page.status, "passkey" in page.html) == (200, False)
        assert (
            visitor.send("POST", f"{visitor.home}/register/passkey/options", page.form("Create account").fields).status
            >= 400
        )
