"""A registration that waits for the verification of its address."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select, update

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import link_in, links_in, mails_to
from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import World
from tests.support.services.identity_service import MovableClock
from tests.support.visitors.visitor import VisitedPage, Visitor

PASSWORD = "correct horse 7"


ADA = "ada@example.com"


def unverified(world: World, email: str = ADA) -> Person:
    """Add an account with an unverified address."""
    person = world.person(email)
    change(world, person, email_verified=False)
    return person


def change(world: World, person: Person, **values: Any) -> None:
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        work.run(
            update(accounts)
            .where(accounts.c.tenant_id == world.tenant_id, accounts.c.uid == person.uid)
            .values(**values)
        )


def is_verified(world: World, person: Person) -> bool:
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        where = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == person.uid)
        row = work.one(select(accounts.c.email_verified).where(*where))
        assert row is not None
        return bool(row[0])
    finally:
        work.rollback()


def verification_mails(world: World, email: str = ADA) -> list[dict[str, Any]]:
    """Return the mails with a verification link, oldest first."""
    return [item for item in mails_to(world.services, world.tenant_id, email) if links_in(item)]


def wait(world: World, **delta: float) -> None:
    clock = world.services.clock
    assert isinstance(clock, MovableClock)
    clock.advance(**delta)


class PendingVerification:
    """A sign-in from a shop that waits for the verification of the account's address."""

    def __init__(self, world: World, visitor: Visitor) -> None:
        self.world, self.visitor = world, visitor
        self.shop: RelyingParty = world.application("shop", client_name="Acme Shop")
        self.ada = unverified(world)
        self.page: VisitedPage = visitor.authorize(self.shop).press("Sign in", identifier=ADA, password=PASSWORD)

    @property
    def link(self) -> str:
        return link_in(verification_mails(self.world)[-1])

    def is_at_application(self, seen: VisitedPage) -> bool:
        """Return whether the browser is at the shop's callback with a code."""
        return seen.address.startswith(self.shop.redirect_uri) and bool(seen.query.get("code"))
