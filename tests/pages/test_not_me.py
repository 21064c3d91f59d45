"""This was not me: the account goes back to the mailbox that was told, whatever a thief did since."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from sqlalchemy import update

from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.platform.store.unit import UnitOfWork
from tests.support.customers import NEW, a_customer
from tests.support.mailbox import link_in, mails_to, token_in
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Person
from tests.support.tenant_server import NewTenantServer, answered, refused
from tests.support.visitor import NewVisitor, NewVisitorAt

PASSWORD, EMAIL, OWN = "correct horse 7", "/identity/v2/auth/email", "/identity/v2/auth/account"
THIEF = "thief@evil.test"


def path_in(mail: dict[str, object]) -> str:
    parts = urlsplit(link_in(mail))
    return f"{parts.path}?{parts.query}"


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada")


def changed_by_thief(world: World, new_visitor: NewVisitor, ada: Person, old: str = PASSWORD, new: str = NEW) -> str:
    thief = new_visitor()
    thief.open("/profile").press("Sign in", identifier=ada.email, password=old)
    thief.open("/change-password").press("Save the new password", old_password=old, new_password=new)
    mails = mails_to(world.services, world.tenant_id, ada.email)
    return path_in([one for one in mails if "/not-me" in str(one)][-1])


def moved(world: World, ada: Person) -> None:
    """Leave the account with the thief's proved address alone, as adding it and removing hers does."""
    with UnitOfWork(world.services.database, world.tenant_id).apart() as work:
        a, i = accounts.c, identifiers.c
        mine = (a.tenant_id == world.tenant_id, a.email == ada.email)
        held = [{"Type": "Primary", "Value": THIEF, "verified": True}]
        work.run(update(accounts).where(*mine).values(email=THIEF, emails=held, email_verified=True))
        where = (i.tenant_id == world.tenant_id, i.kind == "email", i.value == ada.email)
        work.run(update(identifiers).where(*where).values(value=THIEF))


AGAIN = "Amber-window-44"
NOT_ME = "It was not me: close the account to others"


def test_its_mail_has_a_limit_of_its_own(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    for _ in range(4):
        new_visitor().open("/login").follow("Forgot it?").press("Send it", identifier=ada.email)
    owner = new_visitor()
    page = owner.open(changed_by_thief(world, new_visitor, ada)).press(NOT_ME)
    assert page.heading == "Check your mail"
    mail = mails_to(world.services, world.tenant_id, ada.email)[-1]
    assert "Take your account back" in str(mail["html"])
    assert owner.open(path_in(mail)).heading == "Choose a new password"


def test_while_no_mail_may_go_the_page_sets_the_password_at_once(
    new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    world = new_world(sending={"mails_by_type": {"password_alarm": {"amount": 1, "minutes": 60}}})
    ada = world.person("ada@example.com")
    first = changed_by_thief(world, lambda: new_visitor_at(world), ada)
    owner = new_visitor_at(world)
    owner.open(first).press(NOT_ME)
    mail = mails_to(world.services, world.tenant_id, ada.email)[-1]
    owner.open(path_in(mail)).press("Save the new password", password=AGAIN)
    second = changed_by_thief(world, lambda: new_visitor_at(world), ada, AGAIN, "Cobalt-harbour-23")
    page = owner.open(second).press(NOT_ME)
    assert page.heading == "Choose a new password"
    over = owner.open(second)
    assert over.heading == "This was done already"
    assert "mail" not in over.text, "none was sent"
    assert "Your password is changed" in page.press("Save the new password", password="Velvet-anchor-65").text
    assert owner.open("/login").press("Sign in", identifier=ada.email, password="Cobalt-harbour-23").status == 401


def test_the_page_says_that_it_is_done(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    page = new_visitor().open(changed_by_thief(world, new_visitor, ada)).press(NOT_ME)
    assert "The account is closed to others" in page.text
    assert "If there is an account" not in page.text, "whoever held the alarm knows that there is one"


def test_a_new_password_ends_reset_links_and_is_told_with_a_way_to_object(new_tenant_server: NewTenantServer) -> None:
    c = a_customer(new_tenant_server)
    bearer, token = answered(c.logs_in())["access_token"], c.token()
    answered(c.tenant.send("PUT", OWN, {"Password": NEW}, bearer=bearer))
    assert refused(c.reset(resettoken=token, password="Amber-window-44")) == (403, 975)
    assert any("/not-me?" in str(one) for one in c.mails())


def test_a_reset_link_ends_with_its_address(new_tenant_server: NewTenantServer) -> None:
    c = a_customer(new_tenant_server)
    bearer = answered(c.logs_in())["access_token"]
    answered(c.tenant.send("POST", EMAIL, {"email": "new@example.test", "type": "Secondary"}, bearer=bearer))
    proof = token_in(mails_to(c.tenant.services, c.tenant.tenant_id, "new@example.test")[-1])
    answered(c.tenant.send("GET", EMAIL, with_secret=False, verificationtoken=proof))
    token = c.token()
    answered(c.tenant.send("DELETE", EMAIL, {"email": c.email}, bearer=bearer))
    assert refused(c.reset(resettoken=token, password=NEW)) == (403, 975)


def test_the_alarm_gives_the_account_back_to_the_mailbox_that_was_told(
    world: World, new_visitor: NewVisitor, ada: Person
) -> None:
    link = changed_by_thief(world, new_visitor, ada)
    moved(world, ada)
    owner = new_visitor()
    page = owner.open(link)
    assert ada.email in page.text
    assert THIEF not in page.text
    assert page.press(NOT_ME).heading == "Check your mail"
    resets = [one for one in mails_to(world.services, world.tenant_id, ada.email) if "/reset-password" in str(one)]
    assert resets
    assert not [one for one in mails_to(world.services, world.tenant_id, THIEF) if "/reset-password" in str(one)]
    done = owner.open(path_in(resets[-1])).press("Save the new password", password="Amber-window-44")
    assert "Your password is changed" in done.text
    assert owner.open("/login").press("Sign in", identifier=THIEF, password="Amber-window-44").status == 401
