"""How many unanswered sign-ins a network and a tenant may leave: the oldest go first, and no others (decision 0333)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import insert, select

from app.contract.steps import RedirectStep, StartAgainStep
from app.identity.assembly.clean_up import expired_rows
from app.identity.authentication.sign_in.interactions import DELETE_SURPLUS, MAX_OF_NETWORK
from app.identity.authentication.sign_in.tables import interactions
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import NewWorld, World

HERE, THERE = "192.0.2.7", "198.51.100.9"
A = interactions.c


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(limits={"authorize_per_minute_per_address": 0})


@pytest.fixture
def app(tenant: World) -> RelyingParty:
    return tenant.application("shop")


def leave(world: World, network: str, number: int, *, minutes: int = 5, is_done: bool = False) -> list[str]:
    """Store sign-ins of a network without an answer, begun one after another some minutes ago; return their keys."""
    begun = world.services.clock.now() - timedelta(minutes=minutes)
    rows = [
        {
            "tenant_id": world.tenant_id, "interaction_hash": f"{network}-{minutes}-{is_done}-{place:07}", "binding_hash": "b",
            "kind": "authorize", "request": {}, "is_done": is_done, "created_at": begun + timedelta(milliseconds=place),
            "expires_at": begun + timedelta(days=4), "network": network,
        }
        for place in range(number)
    ]  # fmt: skip
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        for first in range(0, number, 5_000):
            work.run(insert(interactions), rows[first : first + 5_000])
    return [str(row["interaction_hash"]) for row in rows]


def left(world: World) -> set[str]:
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        return {
            row.interaction_hash for row in work.run(select(A.interaction_hash).where(A.tenant_id == world.tenant_id))
        }


def open_pages(world: World, app: RelyingParty, number: int) -> list[str]:
    browser = world.browser()
    return [str(browser.authorize(app.authorization_parameters()).interaction_id) for _ in range(number)]


@pytest.mark.both_databases
def test_oldest_of_a_network_goes_first(tenant: World, app: RelyingParty) -> None:
    theirs, answered = leave(tenant, THERE, 20, minutes=60), leave(tenant, HERE, 20, minutes=60, is_done=True)
    mine = leave(tenant, HERE, MAX_OF_NETWORK)
    open_pages(tenant, app, 110)
    now = left(tenant)
    assert now.issuperset(theirs), "another network keeps its own"
    assert now.issuperset(answered)
    assert now.isdisjoint(mine[:100])
    assert now.issuperset(mine[110:])
    assert len([item for item in now if item not in {*theirs, *answered}]) == MAX_OF_NETWORK


def test_page_that_was_pushed_out_starts_again(tenant: World, app: RelyingParty) -> None:
    ada, browser = tenant.person("ada@example.test"), tenant.browser()
    first = browser.authorize(app.authorization_parameters()).interaction_id
    tenant.services.clock.advance(minutes=10)  # type: ignore[attr-defined]  # the tests' own
    leave(tenant, HERE, MAX_OF_NETWORK)
    (newest, *_) = open_pages(tenant, app, 101)[::-1]
    assert browser.sign_in(first, ada.email, ada.password).kind is StartAgainStep
    assert newest


@pytest.mark.both_databases
def test_pushing_out_locks_only_what_goes(tenant: World) -> None:
    """Other people of the network go on meanwhile, and a new page does not write to ten thousand rows."""
    stored = leave(tenant, HERE, MAX_OF_NETWORK + 2)
    pushing = UnitOfWork(tenant.services.database, tenant.tenant_id)
    try:
        pushing.run(DELETE_SURPLUS, {"tenant": tenant.tenant_id, "network": HERE})
        with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
            free = select(A.interaction_hash).where(A.tenant_id == tenant.tenant_id).with_for_update(skip_locked=True)
            assert {row.interaction_hash for row in work.run(free)}.issuperset(stored[2:])
    finally:
        pushing.rollback()


@pytest.mark.both_databases
def test_surplus_of_a_tenant_is_its_largest_networks(tenant: World) -> None:
    flood = leave(tenant, HERE, 60)
    few = [key for number in range(5) for key in leave(tenant, f"203.0.113.{number}", 2, minutes=60)]
    assert expired_rows.push_out_unanswered(tenant.services.database, tenant.tenant_id, 40) == 30
    now = left(tenant)
    assert now.issuperset(few), "older, but of networks that hold few"
    assert now.issuperset(flood[-30:])
    assert now.isdisjoint(flood[:30])


def test_surplus_goes_in_batches(tenant: World) -> None:
    leave(tenant, HERE, 2_500)
    assert expired_rows.push_out_unanswered(tenant.services.database, tenant.tenant_id, 100) == 2_400
    assert len(left(tenant)) == 100


@pytest.mark.database_alone
def test_cleaning_bounds_each_tenant(tenant: World, new_world: NewWorld) -> None:
    other = new_world()
    leave(tenant, HERE, expired_rows.MAX_UNANSWERED + 3)
    leave(other, HERE, 10)
    expired_rows.clean(tenant.services.database, tenant.services.clock.now())
    assert len(left(tenant)) == expired_rows.MAX_UNANSWERED
    assert len(left(other)) == 10


@pytest.mark.database_alone
def test_cleaning_keeps_what_can_restart(tenant: World, app: RelyingParty) -> None:
    ada, browser = tenant.person("ada@example.test"), tenant.browser()
    (open_page,) = open_pages(tenant, app, 1)
    answered = browser.authorize(app.authorization_parameters()).interaction_id
    assert browser.sign_in(answered, ada.email, ada.password).kind is RedirectStep
    for hours, number in ((0, 2), (1, 1), (79, 1), (81, 0)):
        expired_rows.clean(tenant.services.database, tenant.services.clock.now() + timedelta(hours=hours))
        assert len(left(tenant)) == number, (hours, open_page)
