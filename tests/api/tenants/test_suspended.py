"""A suspended tenant: its hosts, keys and tokens are refused as if it did not exist, and come back."""

from __future__ import annotations

from contextlib import suppress

import pytest

from app.identity.directory.tenants import tenant_writes
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.database import StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.limits import time_budget
from tests.support.oauth.relying_party import Browser, Person, RelyingParty
from tests.support.oauth.world import World


def switch(services: IdentityServices, world: World, *, is_active: bool) -> None:
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        tenant_writes.change(work, is_active=is_active)
    services.directory.clear_cache()


@pytest.mark.both_databases
def test_suspended_tenant_serves_nothing_until_it_is_resumed(
    services: IdentityServices,
    world: World,
    shop: RelyingParty,
    foreign_shop: RelyingParty,
    browser: Browser,
    ada: Person,
) -> None:
    body = dict(shop.redeem(browser.code(shop, ada)).json or {})
    code = browser.code(shop, ada)
    public = ("/service/oidc/jwks", "/.well-known/openid-configuration")
    assert [shop.get(path).status_code for path in public] == [200, 200]
    switch(services, world, is_active=False)
    try:
        assert [shop.get(path).status_code for path in public] == [404, 404]
        refused = (shop.redeem(code), shop.refresh(body["refresh_token"]), shop.userinfo(body["access_token"]))
        assert {answer.status_code for answer in refused} <= {403, 404}
        assert services.directory.by_key(world.api_key) is None
        assert foreign_shop.get(public[0]).status_code == 200
    finally:
        switch(services, world, is_active=True)
    assert shop.userinfo(body["access_token"]).status_code == 200
    assert shop.refresh(body["refresh_token"]).status_code == 200


@pytest.mark.both_databases
def test_slow_database_brings_no_suspended_tenant_back(
    services: IdentityServices, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Suspended by another process: once this one knows, a copy from before is not served while the database is slow."""
    host = services.settings.hub_url(world.name).partition("://")[2]
    assert services.directory.by_host(host) is not None
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        tenant_writes.change(work, is_active=False)
    monkeypatch.setattr("app.identity.directory.tenants.tenant_cache.FRESH_SECONDS", -1)
    assert services.directory.by_host(host) is None
    with time_budget.at_most(0), suppress(StoreUnavailable):  # PostgreSQL is not asked any more
        assert services.directory.by_host(host) is None
    monkeypatch.undo()
    switch(services, world, is_active=True)
    assert services.directory.by_host(host) is not None
