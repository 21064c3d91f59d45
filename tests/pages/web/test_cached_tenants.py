"""What the hub has cached of tenants follows every change within five seconds, and costs visits no call."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from threading import Thread
from threading import enumerate as enumerate_threads

import pytest

from app.contract.auth import Host
from app.contract.tenants.tenant_pages import changed_tenants
from app.contract.visitor_claims import VisitorClaims
from app.factories import create_both
from app.hub import create_app
from app.hub.tenants import tenant_cache
from app.hub.tenants.tenant import HubTenant
from app.hub.tenants.tenant_cache import (
    ASK_SECONDS,
    IDLE_SECONDS,
    MAX_HOST_LENGTH,
    MAX_STALE_SECONDS,
    MAX_UNKNOWN,
    READING_AGE_SECONDS,
    TenantCache,
)
from app.identity import create_service
from app.identity.platform.services import IdentityServices
from app.kit.operations.client import Client, ServiceUnavailable
from app.kit.operations.in_process_client import LocalClient
from app.kit.operations.server import OperationServer
from tests.support.oauth.world import NewWorld, World
from tests.support.processes.installation import eventually
from tests.support.processes.tenant_changes import CHANGES, HubProcess, Time, add_domain, domain_of, host_of, suspend
from tests.support.services.identity_service import before_the_store, make_services
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import Visitor

LIMIT_SECONDS = 5.0
STEP_SECONDS = 0.25


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    for module in ("app.hub.tenants.tenant_cache", "app.identity.directory.tenants.tenant_cache"):
        monkeypatch.setattr(f"{module}.monotonic", made)
    return made


@pytest.fixture
def other_processes(services: IdentityServices) -> Iterator[list[IdentityServices]]:
    """Two other processes of the identity service, over the same database."""
    made = [make_services(services.settings) for _ in range(2)]
    yield made
    for item in made:
        item.database.dispose()


@pytest.fixture
def hub(other_processes: list[IdentityServices], clock: Time) -> HubProcess:
    return HubProcess([create_service(item) for item in other_processes], clock)


@pytest.mark.both_databases
@pytest.mark.parametrize("name", CHANGES)
def test_change_by_another_process_shows_in_five_seconds(name: str, hub: HubProcess, new_world: NewWorld) -> None:
    """Whatever the ages of the copies are when it happens, and however often the host is visited."""
    case = CHANGES[name]
    for step in range(10):
        for visits_every in (STEP_SECONDS, LIMIT_SECONDS):
            world = new_world()
            host = case.host(world)
            case.before(world)
            hub.read_everywhere(host)
            hub.wait(step * STEP_SECONDS)
            assert not case.is_seen(hub.visit(host))
            case.change(world)
            changed_at = hub.clock.now
            while not case.is_seen(hub.visit(host)):
                assert hub.clock.now - changed_at < LIMIT_SECONDS, (step, visits_every)
                hub.wait(visits_every)


@pytest.mark.parametrize("name", ["brand", "suspended"])
def test_change_shows_though_no_round_ran(name: str, hub: HubProcess, world: World) -> None:
    """The process was suspended, as a laptop's is: the next visit asks by itself."""
    assert hub.visit(host_of(world)) is not None
    hub.wait(ASK_SECONDS)
    CHANGES[name].change(world)
    hub.clock.now += LIMIT_SECONDS
    assert CHANGES[name].is_seen(hub.visit(host_of(world)))


def test_copy_of_the_service_counts_with_its_age(hub: HubProcess, world: World) -> None:
    host, brand = host_of(world), CHANGES["brand"]
    hub.read_everywhere(host)
    brand.change(world)
    hub.clock.now += 2.25
    assert not brand.is_seen(hub.visit(host)), "the service has cached it"
    hub.clock.now += LIMIT_SECONDS - 2.25
    assert brand.is_seen(hub.visit(host))


def test_process_that_answers_a_round_sends_no_older_tenant(
    other_processes: list[IdentityServices], clock: Time, world: World
) -> None:
    alone = HubProcess([create_service(other_processes[0])], clock)
    host, brand = host_of(world), CHANGES["brand"]
    alone.visit(host)
    world.change_brand(display_name="Winter")
    alone.cache.poll()
    assert brand.is_seen(alone.visit(host))


def test_change_shows_at_once_after_a_response_of_that_version(hub: HubProcess, world: World) -> None:
    host = host_of(world)
    assert hub.visit(host) is not None
    world.change_brand(display_name="Winter")
    hub.cache.on_response(host, {"x-gatehouse-tenant-version": "another"})
    for other in hub.servers:
        other.lifecycle.services.directory.clear_cache()  # type: ignore[attr-defined]  # in their processes it shows at once
    assert CHANGES["brand"].is_seen(hub.visit(host))


def test_late_round_confirms_no_tenant_that_changed_meanwhile(hub: HubProcess, world: World) -> None:
    host = host_of(world)
    assert hub.visit(host) is not None
    hub.during_call = lambda: hub.cache.on_response(host, {"x-gatehouse-tenant-version": "another"})
    hub.cache.poll()
    hub.calls.clear()
    hub.visit(host)
    assert [name for name, _ in hub.calls] == ["hub.tenant"]


@pytest.mark.parametrize(("seconds", "calls"), [(LIMIT_SECONDS, 1), (READING_AGE_SECONDS, 2)], ids=["busy", "idle"])
def test_one_visit_reads_a_tenant_for_all_visits(
    other_processes: list[IdentityServices], clock: Time, world: World, seconds: float, calls: int
) -> None:
    """Else the visits of a busy tenant all wait for the service at once, and no thread is left for other tenants."""
    alone = HubProcess([create_service(other_processes[0])], clock)
    host, brand, meanwhile = host_of(world), CHANGES["brand"], list[HubTenant | None]()
    alone.visit(host)
    brand.change(world)
    clock.now += seconds

    def visit_meanwhile() -> None:
        alone.during_call = lambda: None
        meanwhile.append(alone.visit(host))

    alone.during_call = visit_meanwhile
    alone.calls.clear()
    assert brand.is_seen(alone.visit(host))
    assert [brand.is_seen(item) for item in meanwhile] == [calls > 1], "no visitor sees the old page"
    assert [name for name, _ in alone.calls] == ["hub.tenant"] * calls


def test_visit_after_a_broken_read_reads_the_tenant(hub: HubProcess, world: World) -> None:
    host = host_of(world)
    hub.visit(host)
    hub.clock.now += LIMIT_SECONDS
    hub.during_call = lambda: 1 / 0
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            hub.visit(host)


@pytest.mark.both_databases
def test_fifty_tenants_cost_one_call_and_one_statement(hub: HubProcess, new_world: NewWorld) -> None:
    worlds = [new_world() for _ in range(50)]
    add_domain(worlds[0])
    hosts = [domain_of(worlds[0]), *map(host_of, worlds)]
    shown = [hub.visit(host) for host in hosts]
    assert None not in shown
    hub.calls.clear()
    hub.costs.clear()
    hub.wait(ASK_SECONDS)
    assert [name for name, _ in hub.calls] == [changed_tenants.name]
    assert [cost.split("; hashes")[0] for cost in hub.costs] == ["api=1; sql=1; commits=0"]
    assert list(hub.calls[0][1].versions) == hosts
    for _ in range(30):
        hub.wait(ASK_SECONDS)
    again = [hub.visit(host) for host in hosts]
    assert all(item is other for item, other in zip(again, shown, strict=True))
    assert {name for name, _ in hub.calls} == {changed_tenants.name}


@pytest.mark.parametrize("path", ["/login", "/register", "/forgot-password"])
def test_page_of_tenant_not_asked_for_a_minute_makes_no_call(
    path: str, world: World, identity_app: OperationServer, clock: Time
) -> None:
    app = create_app(world.services.settings, clock=world.services.clock, server=identity_app)
    cache: TenantCache = app.extensions["gatehouse"].tenancy
    visitor = Visitor(PlainClient(app), world.services.settings.hub_url(world.name))
    assert visitor.open(path).status == 200
    for _ in range(30):
        clock.now += ASK_SECONDS
        cache.poll()
    answer = visitor.open(path).answer
    assert answer is not None
    assert answer.status_code == 200
    assert answer.headers.get("X-Gatehouse-Cost", "api=0; sql=0").startswith("api=0; sql=0")


def test_host_without_visits_is_not_asked_about(hub: HubProcess, new_world: NewWorld) -> None:
    idle, busy = new_world(), new_world()
    hub.visit(host_of(idle))
    for _ in range(int(IDLE_SECONDS // 60) + 1):
        hub.visit(host_of(busy))
        hub.wait(60)
    hub.calls.clear()
    hub.visit(host_of(busy))
    hub.wait(ASK_SECONDS)
    assert [list(request.versions) for _, request in hub.calls] == [[host_of(busy)]]
    suspend(idle)
    hub.calls.clear()
    assert hub.visit(host_of(idle)) is None
    assert [name for name, _ in hub.calls] == ["hub.tenant"]
    hub.clock.now += 2 * IDLE_SECONDS
    hub.calls.clear()
    hub.cache.poll()
    assert hub.calls == []


def test_invented_hosts_displace_no_tenant_and_join_no_round(hub: HubProcess, world: World) -> None:
    host = host_of(world)
    shown = hub.visit(host)
    for number in range(MAX_UNKNOWN + 100):
        assert hub.visit(f"absent-{number}.{world.services.settings.hub_domain}") is None
    hub.calls.clear()
    assert hub.visit(host) is shown
    hub.wait(ASK_SECONDS)
    assert [list(request.versions) for _, request in hub.calls] == [[host]]
    assert len(hub.cache._unknown.values()) == MAX_UNKNOWN
    hub.calls.clear()
    assert hub.visit("x" * (MAX_HOST_LENGTH + 1)) is None
    assert hub.calls == []


def test_least_used_tenants_leave_a_full_cache(
    hub: HubProcess, new_world: NewWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenant_cache, "MAX_CACHED", 10)
    worlds = [new_world() for _ in range(12)]
    for world in worlds:
        hub.wait(0.1)
        hub.visit(host_of(worlds[0]))
        hub.visit(host_of(world))
    assert [hub.cache.cached_name(host_of(world)) == world.name for world in worlds] == [
        True,
        False,
        False,
        *[True] * 9,
    ]


def test_unknown_host_is_asked_about_once_in_two_seconds(hub: HubProcess, world: World) -> None:
    host = domain_of(world)
    assert [hub.visit(host) for _ in range(5)] == [None] * 5
    assert [name for name, _ in hub.calls] == ["hub.tenant"]
    add_domain(world)
    hub.wait(LIMIT_SECONDS)
    assert hub.visit(host) is not None


def test_pages_go_on_while_the_service_is_down(hub: HubProcess, world: World, caplog: pytest.LogCaptureFixture) -> None:
    host = host_of(world)
    shown = hub.visit(host)
    hub.is_cut_off = True
    hub.clock.now += LIMIT_SECONDS
    hub.calls.clear()
    with caplog.at_level(logging.WARNING):
        assert [hub.visit(host) for _ in range(20)] == [shown] * 20
    assert len(hub.calls) == 1, "visits do not each wait for it"
    assert "the identity service does not answer; pages use cached tenants" in caplog.messages
    with pytest.raises(ServiceUnavailable):
        hub.visit(f"other.{world.services.settings.hub_domain}")
    with pytest.raises(ServiceUnavailable):
        hub.cache.poll()
    hub.clock.now += ASK_SECONDS
    assert hub.visit(host) is shown
    assert len(hub.calls) == 4
    hub.clock.now += MAX_STALE_SECONDS
    with pytest.raises(ServiceUnavailable):
        hub.visit(host)
    hub.is_cut_off = False
    suspend(world)
    hub.clock.now += ASK_SECONDS
    assert hub.visit(host) is None


def test_suspended_tenant_is_refused_while_the_service_is_down(hub: HubProcess, world: World) -> None:
    host = host_of(world)
    assert hub.visit(host) is not None
    suspend(world)
    hub.wait(ASK_SECONDS)
    hub.is_cut_off = True
    assert hub.visit(host) is None
    hub.clock.now += ASK_SECONDS
    with pytest.raises(ServiceUnavailable):
        hub.visit(host)


def test_visit_without_a_host_has_no_tenant(hub: HubProcess) -> None:
    assert hub.visit("") is None


def thread_of(cache: TenantCache) -> Thread | None:
    return cache._watcher


def forgot(cache: TenantCache, host: str) -> bool:
    return not cache.cached_name(host)


@before_the_store
def test_thread_asks_from_the_first_tenant_until_the_hub_is_gone(
    world: World, identity_app: OperationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tenant_cache, "ASK_SECONDS", 0.01)
    rounds: list[int] = []

    def client() -> Client:
        rounds.append(1)
        if len(rounds) < 3:
            raise OSError("no round is the last one")
        return LocalClient(identity_app, Host.INSIDE, VisitorClaims(host=""))

    cache = TenantCache(client, is_watched=True)
    assert thread_of(cache) is None
    host = host_of(world)
    assert (
        cache.by_host(host, lambda: LocalClient(identity_app, Host.INSIDE, VisitorClaims(host=host))).name == world.name
    )
    thread = thread_of(cache)
    assert thread is not None
    assert thread.daemon
    eventually(lambda: len(rounds) > 4)
    suspend(world)
    eventually(partial(forgot, cache, host))
    del cache
    gc.collect()
    thread.join(30)
    assert not thread.is_alive()


FORKED = """
import os
from app.contract.tenants import tenant_pages
from app.hub.tenants.tenant_cache import TenantCache
def answer(operation, request):
    return tenant_pages.TenantResponse(tenant=tenant_pages.TenantView(name="acme", display_name="Acme", version="1"))
cache = TenantCache(lambda: answer, is_watched=True)
cache.by_host("acme", lambda: answer)
child = os.fork()
cache.by_host("other", lambda: answer)
is_watched = cache._watcher.is_alive()
if not child:
    os._exit(0 if is_watched else 1)
assert is_watched
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def test_forked_process_has_a_thread_of_its_own() -> None:
    assert subprocess.run([sys.executable, "-c", FORKED], check=False).returncode == 0


def watchers() -> set[Thread]:
    return {thread for thread in enumerate_threads() if thread.name == "tenants"}


@before_the_store
def test_process_that_serves_has_the_thread(world: World) -> None:
    before = watchers()
    app = create_both(world.services.settings)
    assert watchers() <= before, "no watcher of an unused tenant is left"
    assert Visitor(PlainClient(app), world.services.settings.hub_url(world.name)).open("/login").status == 200
    assert len(watchers() - before) == 1
