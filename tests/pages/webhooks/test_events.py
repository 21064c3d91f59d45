"""Events of webhooks that the hosted pages cause: each once, as by the operations of programs."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select

from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.account_pages import mails, signed_in
from tests.support.journeys.federated_sign_in import FederatedPageUser
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

EMAIL, PASSWORD = "ada@example.com", "Zebra-kettle-91"


def events(world: World) -> list[str]:
    """Return the names of the tenant's events in their order."""
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        where = (audit.c.tenant_id == world.tenant_id, audit.c.event.startswith("event."))
        return [row.event[6:] for row in work.all(select(audit).where(*where).order_by(audit.c.entry_id))]


def sign_up(visitor: Visitor) -> VisitedPage:
    return visitor.open("/register").press("Create account", email=EMAIL, password=PASSWORD)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person(EMAIL, FirstName="Ada", LastName="Lovelace")


def test_verified_registration_raises_its_events_once(world: World, visitor: Visitor) -> None:
    sign_up(visitor)
    assert events(world) == ["Register"]
    (mail,) = mails_to(world.services, world.tenant_id, EMAIL)
    visitor.open(link_in(mail)).press("Verify")
    assert events(world) == ["Register", "EmailVerification", "Login"]


def test_registration_that_signs_in_raises_one_login(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(email_verification="optional")
    sign_up(new_visitor_at(world))
    assert events(world) == ["Register", "Login"]


def test_registration_that_needs_a_factor_is_no_login(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(email_verification="optional", two_factor="required", second_factors={"totp": True})
    sign_up(new_visitor_at(world))
    assert events(world) == ["Register"]


def test_first_sign_in_by_provider_raises_each_event_once(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> None:
    world = new_world(connections={"globex": fake_provider.openid(title="Globex", trusts_email=True)})
    user = FederatedPageUser(world, new_visitor_at(world), fake_provider)
    user.sign_in()
    assert sorted(events(world)) == ["LinkAccount", "Login", "Register"]
    FederatedPageUser(world, new_visitor_at(world), fake_provider).sign_in()
    assert sorted(events(world)) == ["LinkAccount", "Login", "Login", "Register"]


def test_password_sign_in_raises_one_login(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    visitor.open("/profile")
    assert events(world) == ["Login"]


def test_lockout_on_page_raises_block_account(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(lockout={"type": "captcha", "maximum_failed_attempts": 2})
    ada, page = world.person(EMAIL), new_visitor_at(world).open("/login")
    for _ in range(2):
        page = page.press("Sign in", identifier=ada.email, password="wrong")
    assert events(world) == ["BlockAccount"]


def test_changes_on_account_pages_raise_their_events(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada, "/username").press("Save", username="Countess")
    sent = visitor.open("/emails").follow("Add email").press("Send email", email="countess@example.org")
    code = re.findall(r"\b\d{6}\b", mails(world, "countess@example.org")[-1])[0]
    listed = sent.press("Verify", code=code)
    listed.press("Make primary", action="primary").press("Make primary")
    visitor.open("/emails").press("Remove", address=EMAIL, action="remove").press("Remove")
    expected = ["Login", "SetUsername", "EmailVerification", "AddEmail", "UpdateProfile", "RemoveEmail"]
    assert events(world) == expected


def test_deletion_by_link_raises_one_event(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada, "/delete-account").press("Email me a confirmation link")
    visitor.open(link_in(mails(world, ada.email)[-1])).press("Delete account")
    assert events(world) == ["Login", "DeleteAccount"]
