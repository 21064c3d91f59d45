"""The identity service accepts the hub's calls by their signature alone."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest
from flask import Flask
from werkzeug.test import Client as WsgiClient
from werkzeug.test import TestResponse

from app.contract import errors
from app.contract.accounts.pages import profile_pages, security_pages
from app.contract.oauth.pages import authorization_pages
from app.contract.page_models import NoParameters
from app.contract.sign_in import sign_in_pages
from app.contract.visitor_claims import VISIT_HEADER, VisitorClaims
from app.hub.client.identity_client import IdentityClient
from app.identity import create_app, create_service
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.database import StoreContended
from app.kit import randomness
from app.kit.clock import FixedClock
from app.kit.limits.nonces import Nonces
from app.kit.limits.shared_store import SharedStore
from app.kit.operations.call_signing import SIGNATURE_HEADER, signature
from app.kit.operations.operation import Operation
from tests.support.oauth.world import World
from tests.support.processes.installation import eventually
from tests.support.services.identity_service import before_the_store, make_services
from tests.support.services.servers import Redis


@pytest.mark.parametrize("name", ["ünknown", "two words", "50%25", "<b>"])
def test_name_needing_escapes_is_signed_correctly(
    services: IdentityServices, identity_app: Flask, world: World, name: str
) -> None:
    transport = httpx.WSGITransport(app=identity_app)
    identity_client = IdentityClient(services.settings.base_url, services.hub_keys, services.clock, transport)
    client = identity_client.for_visit(
        VisitorClaims(host=f"{world.name}.{services.settings.hub_domain}"), lambda _: None
    )
    with pytest.raises(errors.UnknownAccount):
        client(authorization_pages.hub_client, authorization_pages.HubClientRequest(name=name))


def test_sessions_are_read_for_security_page_only(
    services: IdentityServices, identity_app: Flask, world: World
) -> None:
    person = world.person("grace@example.test")
    host = f"{world.name}.{services.settings.hub_domain}"
    transport = httpx.WSGITransport(app=identity_app)
    identity_client = IdentityClient(services.settings.base_url, services.hub_keys, services.clock, transport)
    sign_in = sign_in_pages.SignInRequest(identifier=person.email, password=person.password)
    signed_in = identity_client.for_visit(VisitorClaims(host=host), lambda _: None)(sign_in_pages.sign_in, sign_in)
    assert signed_in.session is not None
    client = identity_client.for_visit(VisitorClaims(host=host, session=signed_in.session.token), lambda _: None)
    assert "Sessions" not in client(profile_pages.profile, profile_pages.ProfileRequest()).model_dump(by_alias=True)
    listed = client(security_pages.read, NoParameters()).sessions
    assert [view.is_current for view in listed] == [True]


INSIDE_URL = "http://identity.internal:8000"


@pytest.fixture
def apart(services: IdentityServices) -> Iterator[IdentityServices]:
    """Return the services of an identity service that the hub reaches over the network."""
    made = make_services(replace(services.settings, api_url=INSIDE_URL))
    yield made
    made.database.dispose()


def a_call(
    services: IdentityServices, path: str = "/hub/tenant", base_url: str = INSIDE_URL, tenant: str = "absent"
) -> dict[str, Any]:
    """Return the arguments of a signed call, for replays."""
    visit = VisitorClaims(host=f"{tenant}.{services.settings.hub_domain}").to_header()
    at = int(services.clock.now().timestamp())
    signed = signature(services.hub_keys, "GET", path, b"", visit, at, randomness.token(16))
    return {"path": path, "base_url": base_url, "headers": {VISIT_HEADER: visit, SIGNATURE_HEADER: signed}}


def answer_of(response: TestResponse) -> tuple[int, Any]:
    body = response.get_json()
    return response.status_code, body.get("ErrorCode", body.get("errorCode"))


REFUSED = (403, 909)
TENANT_NOT_FOUND = (403, 942)
"""The call was accepted; the tenant does not exist."""


def accepted_call(wsgi: WsgiClient, services: IdentityServices) -> dict[str, Any]:
    """Return a call that was accepted, once the store remembers nonces of the present second."""

    def accepted() -> dict[str, Any] | None:
        call = a_call(services)
        return call if answer_of(wsgi.get(**call)) == TENANT_NOT_FOUND else None

    call: dict[str, Any] = eventually(accepted, "a call is accepted")
    return call


def test_replayed_hub_call_is_refused(apart: IdentityServices) -> None:
    wsgi = WsgiClient(create_app(create_service(apart)))
    call = a_call(apart)
    assert answer_of(wsgi.get(**call)) == TENANT_NOT_FOUND
    assert [answer_of(wsgi.get(**call)) for _ in range(3)] == [REFUSED] * 3
    assert answer_of(wsgi.get(**a_call(apart))) == TENANT_NOT_FOUND


@before_the_store
def test_replay_at_another_instance_is_refused(services: IdentityServices, redis_url: str) -> None:
    settings = replace(services.settings, api_url=INSIDE_URL, redis_url=redis_url)
    instances = [make_services(settings) for _ in range(2)]
    first, second = (WsgiClient(create_app(create_service(item))) for item in instances)
    call = accepted_call(first, instances[0])
    assert answer_of(second.get(**call)) == REFUSED
    for instance in instances:
        instance.database.dispose()


@before_the_store
def test_hub_call_without_redis_answers_503(services: IdentityServices, own_redis: Redis) -> None:
    lonely = make_services(replace(services.settings, api_url=INSIDE_URL, redis_url=own_redis.url()))
    wsgi = WsgiClient(create_app(create_service(lonely)))
    accepted_call(wsgi, lonely)
    own_redis.stop()
    assert wsgi.get(**a_call(lonely)).status_code == 503
    lonely.database.dispose()


@before_the_store
def test_recorded_call_is_refused_after_redis_lost_nonces(services: IdentityServices, own_redis: Redis) -> None:
    identity = make_services(replace(services.settings, api_url=INSIDE_URL, redis_url=own_redis.url()))
    wsgi = WsgiClient(create_app(create_service(identity)))
    recorded = [accepted_call(wsgi, identity), a_call(identity)]
    own_redis.stop()
    own_redis.start()
    assert [wsgi.get(**call).status_code for call in recorded] == [503, 503]
    accepted_call(wsgi, identity)
    assert wsgi.get(**recorded[0]).status_code in (403, 503)
    assert answer_of(wsgi.get(**recorded[0])) != TENANT_NOT_FOUND
    identity.database.dispose()


def test_hub_operations_are_not_found_on_public_hosts(apart: IdentityServices) -> None:
    wsgi = WsgiClient(create_app(create_service(apart)))
    settings = apart.settings
    for base_url in (
        settings.base_url,
        settings.hub_url("acme"),
        "http://identity.internal",
        "http://elsewhere.example",
    ):
        for path in ("/hub/tenant", "/HUB/tenant", "//hub/tenant"):
            answer = wsgi.get(**a_call(apart, path, base_url))
            unknown = wsgi.get("/nothing/here", base_url=base_url)
            assert (answer.status_code, answer.data) == (unknown.status_code, unknown.data) == (404, unknown.data)


def test_header_cannot_mark_call_as_internal(apart: IdentityServices) -> None:
    wsgi = WsgiClient(create_app(create_service(apart)))
    call = a_call(apart, base_url=apart.settings.base_url)
    for name in ("gatehouse.inside", "gatehouse-inside", "Gatehouse_Inside", "X-Gatehouse-Inside"):
        call["headers"][name] = "1"
    assert wsgi.get(**call).status_code == 404


def test_internal_host_serves_hub_operations_only(apart: IdentityServices) -> None:
    wsgi = WsgiClient(create_app(create_service(apart)))
    for path in ("/identity/v2/auth/account", "/api/oidc/token", "/identity/v2/manage/account"):
        assert wsgi.get(path, base_url=INSIDE_URL).status_code == 404


def test_call_aborted_by_store_is_run_again(
    apart: IdentityServices, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, runs = create_service(apart), []

    def contended(call: Context, req: object) -> None:
        runs.append(call)
        if len(runs) == 1:
            raise StoreContended("gave way")
        raise errors.HubRefused("the second run came as far as the first")

    monkeypatch.setattr(Operation, "handler", property(lambda _operation: contended))
    answer = WsgiClient(server).get(**a_call(apart, tenant=world.name))
    assert "the second run" in answer.text
    assert len(runs) == 2


def test_expired_nonces_leave_memory() -> None:
    passed = FixedClock()
    nonces = Nonces(None, 60, elapsed=lambda: passed.now().timestamp())
    for second in range(1_000, 1_500):
        assert nonces.take(f"nonce-{second}", second, second)
        passed.advance(seconds=1)
    assert not nonces.take("nonce-1499", 1_499, 1_500)
    assert len(nonces._taken) == sum(map(len, nonces._ending.values())) <= 122


@pytest.mark.parametrize("is_shared", [False, True], ids=["memory", "redis"])
@pytest.mark.parametrize("seconds", [-30, -1, 0, 1, 30])
def test_nonce_counts_once_whatever_the_time(redis_url: str, is_shared: bool, seconds: int) -> None:
    nonces, nonce, at = Nonces(SharedStore(redis_url) if is_shared else None, 60), randomness.token(16), 1_000_000
    assert nonces.take(nonce, at, at)
    assert not nonces.take(nonce, at + seconds, at)


def test_one_of_many_threads_takes_a_nonce() -> None:
    nonces, at = Nonces(None, 60), 1_000_000
    with ThreadPoolExecutor(10) as pool:
        taken = list(pool.map(lambda second: nonces.take("the same", at + second % 7, at), range(200)))
    assert taken.count(True) == 1


def test_clock_put_forward_and_back_allows_no_replay() -> None:
    nonces = Nonces(None, 60)
    assert nonces.take("nonce", 1_000, 1_000)
    assert nonces.take("another", 9_000, 9_000)
    assert not nonces.take("nonce", 1_000, 1_010)


def test_nonce_is_single_use_despite_clock_skew(redis_url: str) -> None:
    """The instance with the fast clock accepts it in the last second of the window; the other has half a minute left."""
    nonce, at = randomness.token(16), 1_000_000
    ahead, behind = (Nonces(SharedStore(redis_url), 60) for _ in range(2))
    assert ahead.take(nonce, at, at + 60)
    time.sleep(1.2)
    assert not behind.take(nonce, at, at + 30)
