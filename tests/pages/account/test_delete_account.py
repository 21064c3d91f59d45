"""Deletion of the account: confirmed by a mailed link, revoked by a sign-in."""

from datetime import timedelta

import pytest

from app.identity.assembly.clean_up.expired_rows import clean
from tests.support.accounts.mailbox import link_in
from tests.support.journeys.account_pages import mails, signed_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, Visitor


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")


def test_deletion_needs_a_verified_address(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    visitor = new_visitor_at(new_world(email_verification="optional"))
    visitor.open("/register").press("Create account", email="ada@example.com", password="Zebra-kettle-91")
    refused = visitor.open("/delete-account").press("Email me a confirmation link")
    assert "Verify your email first" in refused.text


def test_account_is_deleted_by_link_and_restored(world: World, visitor: Visitor, ada: Person) -> None:
    mailed = signed_in(visitor, ada, "/delete-account").press("Email me a confirmation link")
    assert mailed.heading == "Check your email"
    assert visitor.open(mailed.address).heading == "Check your email"
    assert len(mails(world, ada.email)) == 1, "reloading repeats nothing"
    link = link_in(mails(world, ada.email)[-1])
    page = visitor.open(link)
    assert page.heading == "Delete your account?"
    assert visitor.open(link).heading == "Delete your account?", "opening the link does not use it up"
    assert visitor.send("HEAD", link, None).status == 200
    assert visitor.open("/profile").profile_name == "Ada Lovelace"
    left_page = page.press("Delete account")
    assert left_page.heading == "Account scheduled for deletion"
    assert visitor.open(left_page.address).comparable_text() == left_page.comparable_text(), "reloading repeats nothing"
    assert visitor.open("/profile").is_sign_in
    assert visitor.open(link).heading == "Link already used"
    offer = signed_in(visitor, ada)
    assert offer.heading == "Account scheduled for deletion"
    restored = offer.press("Keep my account")
    assert restored.heading == "Deletion canceled"
    assert visitor.open(restored.address).heading == "Deletion canceled"
    assert signed_in(visitor, ada).profile_name == "Ada Lovelace"


@pytest.mark.both_databases
def test_deletion_changes_the_state_of_the_session_iframe(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    """Session Management 1.0 section 3.2: the state changes with the session."""
    world = new_world(session_management=True)
    visitor, ada = new_visitor_at(world), world.person("ada@example.com")
    signed_in(visitor, ada, "/delete-account").press("Email me a confirmation link")
    before = visitor.cookie("gatehouse-state").value
    visitor.open(link_in(mails(world, ada.email)[-1])).press("Delete account")
    assert visitor.cookie("gatehouse-state").value != before


def test_wrong_password_does_not_reveal_the_deletion(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada, "/delete-account").press("Email me a confirmation link")
    visitor.open(link_in(mails(world, ada.email)[-1])).press("Delete account")
    page = visitor.open("/login").press("Sign in", identifier=ada.email, password="wrong")
    assert "deleted" not in page.text


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_deleted_account_is_gone_after_grace_period(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada, "/delete-account").press("Email me a confirmation link")
    visitor.open(link_in(mails(world, ada.email)[-1])).press("Delete account")
    clean(world.services.database, world.services.clock.now() + timedelta(days=15))
    page = signed_in(visitor, ada)
    assert page.status == 401
    assert "deleted" not in page.text


@pytest.mark.parametrize("token", ["x", "a" * 400, "%00", "<script>"])
def test_malformed_deletion_link_deletes_nothing(visitor: Visitor, token: str) -> None:
    page = visitor.open(f"/delete-account?vtype=deleteuser&vtoken={token}")
    assert page.status in (400, 403)


def test_legacy_deletion_link_resolves(visitor: Visitor) -> None:
    assert visitor.open("/auth.aspx?vtype=deleteuser&vtoken=x").heading == "Link incomplete"
