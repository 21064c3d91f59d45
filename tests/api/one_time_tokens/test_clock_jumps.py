"""Expiry follows the clock, also after it was put forward or back."""

from __future__ import annotations

import pytest

from app.identity.directory.tenants.keys.signing_keys import LEAD, OVERLAP
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.fakes.identity_provider import FakeProvider, public
from tests.support.oauth.world import World
from tests.support.services.identity_service import pass_time


def signs(services: IdentityServices, world: World) -> str:
    """Return the id of the key that signs now."""
    work = UnitOfWork(services.database, world.tenant_id)
    try:
        return services.signing_keys.current(work).signers["RS256"].kid
    finally:
        work.rollback()


def published(services: IdentityServices, world: World) -> set[str]:
    work = UnitOfWork(services.database, world.tenant_id)
    try:
        return {key["kid"] for key in services.signing_keys.published(work).public}
    finally:
        work.rollback()


def rotate(services: IdentityServices, world: World) -> str:
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        return services.signing_keys.rotate(work)


@pytest.mark.both_databases
def test_rotated_key_signs_at_its_instant_by_the_clock(services: IdentityServices, world: World) -> None:
    old = signs(services, world)
    new = rotate(services, world)
    assert signs(services, world) == old
    pass_time(services, seconds=LEAD.total_seconds() + 1)
    assert signs(services, world) == new
    pass_time(services, seconds=-LEAD.total_seconds())
    assert signs(services, world) == old, "the new key signs before it is due, by a clock that was put back"


def test_retired_key_is_not_published_after_its_time(services: IdentityServices, world: World) -> None:
    old = signs(services, world)
    new = rotate(services, world)
    assert published(services, world) == {old, new}
    pass_time(services, seconds=(LEAD + OVERLAP).total_seconds() + 1)
    assert published(services, world) == {new}


def test_provider_key_is_fetched_after_clock_was_put_back(
    services: IdentityServices, fake_provider: FakeProvider
) -> None:
    address = f"{fake_provider.url}/keys"

    def keys(kid: str) -> int:
        return len(services.provider_metadata.keys(address, kid))

    assert keys("key-1") == 1
    pass_time(services, minutes=50)
    assert keys("key-2") == 0  # asked for then
    pass_time(services, minutes=-50)
    assert keys("key-1") == 1
    fake_provider.published = public(1, 2)
    pass_time(services, minutes=2)
    assert keys("key-2") == 1
