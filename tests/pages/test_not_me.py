"""This was not me: the account goes back to the mailbox that was told, whatever a thief did since."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from sqlalchemy import update

from app.identity.accounts.tables import accounts, identifiers
from app.identity.store.unit import UnitOfWork
from tests.support.customers import NEW, a_customer
from tests.support.letterbox import link_in, mailed_to, token_in
from tests.support.oauth_world import World
from tests.support.relying_party import Person
from tests.support.tenant_server import NewTenantServer, answered, refused
from tests.support.visitor import NewVisitor

PASSWORD, EMAIL, OWN = "correct horse 7", "/identity/v2/auth/email", "/identity/v2/auth/account"
THIEF = "thief@evil.test"


def path_in(mail: dict[str, object]) -> str:
    parts = urlsplit(link_in(mail))
    return f"{parts.path}?{parts.query}"


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada")


def changed_by_thief(world: World, new_visitor: NewVisitor, ada: Person) -> str:
    thief = new_visitor()
    thief.open("/profile").press("Sign in", identifier=ada.email, password=PASSWORD)
    thief.open("/change-password").press("Save the new password", old_password=PASSWORD, new_password=NEW)
    mails = mailed_to(world.house, world.tenant_id, ada.email)
    return path_in(next(one for one in mails if "/not-me" in str(one)))


def moved(world: World, ada: Person) -> None:
    """Leave the account with the thief's proved address alone, as adding it and removing hers does."""
    with UnitOfWork(world.house.database, world.tenant_id).apart() as work:
        a, i = accounts.c, identifiers.c
        mine = (a.tenant_id == world.tenant_id, a.email == ada.email)
        held = [{"Type": "Primary", "Value": THIEF, "verified": True}]
        work.run(update(accounts).where(*mine).values(email=THIEF, emails=held, email_verified=True))
        where = (i.tenant_id == world.tenant_id, i.kind == "email", i.value == ada.email)
        work.run(update(identifiers).where(*where).values(value=THIEF))


def test_while_no_mail_may_go_the_page_sets_the_password_at_once(
    world: World, new_visitor: NewVisitor, ada: Person
) -> None:
    for _ in range(4):
        new_visitor().open("/login").follow("Forgot it?").press("Send it", identifier=ada.email)
    owner = new_visitor()
    page = owner.open(changed_by_thief(world, new_visitor, ada)).press("It was not me: close the account to others")
    assert page.heading == "Choose a new password"
    assert "Your password is changed" in page.press("Save the new password", password="Amber-window-44").text
    assert owner.open("/login").press("Sign in", identifier=ada.email, password=NEW).status == 401


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
    proof = token_in(mailed_to(c.tenant.house, c.tenant.tenant_id, "new@example.test")[-1])
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
    assert page.press("It was not me: close the account to others").heading == "Check your mail"
    resets = [one for one in mailed_to(world.house, world.tenant_id, ada.email) if "/reset-password" in str(one)]
    assert resets
    assert not [one for one in mailed_to(world.house, world.tenant_id, THIEF) if "/reset-password" in str(one)]
    done = owner.open(path_in(resets[-1])).press("Save the new password", password="Amber-window-44")
    assert "Your password is changed" in done.text
    assert owner.open("/login").press("Sign in", identifier=THIEF, password="Amber-window-44").status == 401
