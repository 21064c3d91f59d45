"""The security alert link ("this was not me") returns the account to the notified mailbox."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.customers import NEW, OLD, a_customer
from tests.support.accounts.mailbox import links_to, mails_to, token_in
from tests.support.journeys.security_alerts import EMAIL, NEWER, NOT_ME, OWN, attacker_changes_password, path_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt

ATTACKER = "thief@evil.test"


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada")


def replace_address(world: World, ada: Person) -> None:
    """Replace the account's address by the attacker's, as adding theirs and removing hers does."""
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        a, i = accounts.c, identifiers.c
        account_row = (a.tenant_id == world.tenant_id, a.email == ada.email)
        emails = [{"Type": "Primary", "Value": ATTACKER, "verified": True}]
        work.run(update(accounts).where(*account_row).values(email=ATTACKER, emails=emails, email_verified=True))
        where = (i.tenant_id == world.tenant_id, i.kind == "email", i.value == ada.email)
        work.run(update(identifiers).where(*where).values(value=ATTACKER))


def test_alert_reset_mail_has_its_own_limit(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    for _ in range(4):
        new_visitor().open("/login").follow("Forgot password?").press("Send reset link", identifier=ada.email)
    owner = new_visitor()
    page = owner.open(attacker_changes_password(world, new_visitor, ada)).press(NOT_ME)
    assert page.heading == "Check your email"
    mail = mails_to(world.services, world.tenant_id, ada.email)[-1]
    assert "Your account is secured" in str(mail["html"])
    assert owner.open(path_in(mail)).heading == "Choose a new password"


def test_throttled_alert_sets_the_password_on_the_page(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(sending={"mails_by_type": {"password_alarm": {"amount": 1, "minutes": 60}}})
    ada = world.person("ada@example.com")
    first = attacker_changes_password(world, lambda: new_visitor_at(world), ada)
    owner = new_visitor_at(world)
    owner.open(first).press(NOT_ME)
    mail = mails_to(world.services, world.tenant_id, ada.email)[-1]
    owner.open(path_in(mail)).press("Save password", password=NEWER)
    second = attacker_changes_password(world, lambda: new_visitor_at(world), ada, NEWER, "Cobalt-harbour-23")
    page = owner.open(second).press(NOT_ME)
    assert page.heading == "Choose a new password"
    used = owner.open(second)
    assert used.heading == "Account already secured"
    assert "mail" not in used.text, "no mail was sent"
    assert page.press("Save password", password="Velvet-anchor-65").address.endswith("/profile?changed=password")
    assert (
        new_visitor_at(world).open("/login").press("Sign in", identifier=ada.email, password="Cobalt-harbour-23").status
        == 401
    )


def test_alert_page_confirms_the_closure(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    page = new_visitor().open(attacker_changes_password(world, new_visitor, ada)).press(NOT_ME)
    assert "Your account is secured" in page.text
    assert "If there is an account" not in page.text, "the holder of the alert knows that the account exists"


def test_password_change_ends_reset_links_and_sends_alert(new_tenant_server: NewTenantServer) -> None:
    c = a_customer(new_tenant_server)
    bearer, token = answered(c.logs_in())["access_token"], c.token()
    answered(c.tenant.send("PUT", OWN, {"Password": NEW, "oldpassword": OLD}, bearer=bearer))
    assert refused(c.reset(resettoken=token, password="Amber-window-44")) == (403, 975)
    assert any(links_to(mail, "/not-me") for mail in c.mails())


def test_removed_address_invalidates_its_reset_link(new_tenant_server: NewTenantServer) -> None:
    c = a_customer(new_tenant_server)
    bearer = answered(c.logs_in())["access_token"]
    answered(c.tenant.send("POST", EMAIL, {"email": "new@example.test", "type": "Secondary"}, bearer=bearer))
    verification_token = token_in(mails_to(c.tenant.services, c.tenant.tenant_id, "new@example.test")[-1])
    answered(c.tenant.send("GET", EMAIL, with_secret=False, verificationtoken=verification_token))
    token = c.token()
    answered(c.tenant.send("DELETE", EMAIL, {"email": c.email}, bearer=bearer))
    assert refused(c.reset(resettoken=token, password=NEW)) == (403, 975)


@pytest.mark.both_databases
def test_alert_returns_account_to_the_notified_mailbox(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    link = attacker_changes_password(world, new_visitor, ada)
    replace_address(world, ada)
    owner = new_visitor()
    page = owner.open(link)
    assert ada.email in page.text
    assert ATTACKER not in page.text
    assert page.press(NOT_ME).heading == "Check your email"
    resets = [
        item for item in mails_to(world.services, world.tenant_id, ada.email) if links_to(item, "/reset-password")
    ]
    assert resets
    assert not [
        element
        for element in mails_to(world.services, world.tenant_id, ATTACKER)
        if links_to(element, "/reset-password")
    ]
    result = owner.open(path_in(resets[-1])).press("Save password", password="Amber-window-44")
    assert result.address.endswith("/profile?changed=password")
    assert new_visitor().open("/login").press("Sign in", identifier=ATTACKER, password="Amber-window-44").status == 401
