"""Requests of one old page at the same time: none undoes what another one did (decision 0333)."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from app.identity.authentication.sign_in.tables import interactions
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.relying_party import Browser, RelyingParty
from tests.support.oauth.world import World
from tests.support.services.identity_service import pass_time

A = interactions.c


@pytest.mark.both_databases
@pytest.mark.parametrize("is_done", [True, False], ids=["ended", "restarted"])
def test_restart_overwrites_no_other_request(
    services: IdentityServices, world: World, shop: RelyingParty, browser: Browser, is_done: bool
) -> None:
    attempt = str(browser.authorize(shop.authorization_parameters()).interaction_id)
    pass_time(services, hours=9)
    now = services.clock.now()
    ours = A.tenant_id == world.tenant_id
    other = UnitOfWork(services.database, world.tenant_id)
    try:
        request = other.run(select(A.request).where(ours)).scalar_one()
        found = {**request, "ended": {"uid": "ada"}} if is_done else {**request, "second_factor": "given"}
        values = {
            "request": found,
            "is_done": is_done,
            "created_at": now,
            "expires_at": now + timedelta(days=3, hours=8),
        }
        other.run(update(interactions).where(ours).values(**values))
        with ThreadPoolExecutor(1) as pool:
            reopened = pool.submit(browser.reopen, attempt)
            time.sleep(0.3)  # until it has read the expired one, and waits to write
            other.commit()
            assert reopened.result().interaction_id == attempt
    finally:
        other.rollback()
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        row = work.run(select(A.request, A.is_done).where(ours)).one()
    assert (row.request, row.is_done) == (found, is_done)
